package cli

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"assay/internal/keep/store"
	"assay/internal/show/cli/shell"
	"assay/internal/study"
	"assay/internal/study/studyfile"
)

// complete has shells complete what the commands take: runs, and their stages and lanes; stages, lanes and profiles of a study.
func complete(w *shell.World, all []*cobra.Command) {
	for _, c := range all {
		if strings.Contains(c.Use, "[STUDY]") {
			completeStudy(w, c)
			continue
		}
		if !strings.Contains(c.Use, "RUN") && !strings.Contains(c.Use, "STUDY") {
			continue
		}
		c.ValidArgsFunction = func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 1 && strings.Contains(c.Use, "RUN STAGE") {
				return candidates(c, w, func(ctx context.Context, h *shell.Home) []string { return parts(ctx, h, args, stageOf) })
			}
			return candidates(c, w, runNames)
		}
		for flag, of := range map[string]func(store.Lane) string{"lane": laneOf, "stage": stageOf} {
			if c.Flags().Lookup(flag) == nil {
				continue
			}
			_ = c.RegisterFlagCompletionFunc(flag, func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
				return candidates(c, w, func(ctx context.Context, h *shell.Home) []string { return parts(ctx, h, args, of) })
			}) // the flag is there, and has none yet
		}
	}
}

// completeStudy has shells complete the flags of a command that takes the file of a study; its name is a file's.
func completeStudy(w *shell.World, c *cobra.Command) {
	for flag, of := range map[string]func(*study.Study) []string{
		"lane":    func(s *study.Study) []string { return named(s.Lanes, func(l study.Lane) string { return l.Name }) },
		"stage":   func(s *study.Study) []string { return named(s.Stages, func(st study.Stage) string { return st.Name }) },
		"profile": func(s *study.Study) []string { return s.Profiles.Names() },
	} {
		if c.Flags().Lookup(flag) == nil {
			continue
		}
		_ = c.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			folder, name := filepath.Split(shell.StudyFile(w, args))
			var out []string
			if s, _ := studyfile.Read(w.Disk.Folder(folder), name, studyfile.Options{}); s != nil { // one with problems has names too
				out = of(s)
			}
			return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
		}) // the flag is there, and has none yet
	}
}

// named returns the names of things.
func named[T any](all []T, name func(T) string) []string {
	out := make([]string, len(all))
	for i, x := range all {
		out[i] = name(x)
	}
	return out
}

func laneOf(l store.Lane) string  { return l.Name }
func stageOf(l store.Lane) string { return l.Stage }

// patience is how long somebody who pressed a key waits for a ledger.
const patience = 2 * time.Second

// candidates reads from the homes that a command line leads to; those that are not there, or cannot be read, have nothing to offer.
func candidates(c *cobra.Command, w *shell.World, read func(context.Context, *shell.Home) []string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(c.Context(), patience)
	defer cancel()
	var f shell.HomeFlags
	f.Register(&cobra.Command{}) // its defaults
	f.Home, _ = c.Flags().GetString("home")
	f.DB, _ = c.Flags().GetString("db")
	var out []string
	for _, rehearsal := range []bool{false, true} {
		if !f.HasHome(w, rehearsal) {
			continue
		}
		h, err := f.OpenHome(ctx, w, rehearsal)
		if err != nil {
			continue
		}
		for _, name := range read(ctx, h) {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
		_ = h.Close() // nothing was written
	}
	return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// offered is how many runs are offered at most.
const offered = 50

// runNames returns the newest runs, each with its study, and the names of the studies.
func runNames(ctx context.Context, h *shell.Home) []string {
	runs, err := h.Ledger.Reader.Runs(ctx, "")
	if err != nil {
		return nil
	}
	var ids, studies []string
	for _, r := range runs[:min(offered, len(runs))] {
		ids = append(ids, r.ID+"\t"+r.Study)
		if !slices.Contains(studies, r.Study) {
			studies = append(studies, r.Study)
		}
	}
	return append(ids, studies...)
}

// parts returns what lanes of a run are called: of the one that is named, else of the newest.
func parts(ctx context.Context, h *shell.Home, args []string, of func(store.Lane) string) []string {
	runs, err := h.Ledger.Reader.Runs(ctx, "")
	if err != nil {
		return nil
	}
	i := 0
	if len(args) > 0 {
		i = slices.IndexFunc(runs, func(r store.Run) bool { return strings.HasPrefix(r.ID, args[0]) || r.Study == args[0] })
	}
	if i < 0 || i >= len(runs) {
		return nil
	}
	lanes, err := h.Ledger.Reader.Lanes(ctx, runs[i].No)
	if err != nil {
		return nil
	}
	var out []string
	for _, l := range lanes {
		if name := of(l); !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}
