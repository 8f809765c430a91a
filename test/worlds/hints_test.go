package worlds

import (
	"bytes"
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"assay/internal/show/cli"
	"assay/internal/show/cli/shell"
)

// hinted finds the commands that a text tells the person to type.
var hinted = regexp.MustCompile("`assay ([^`]+)`")

// advised finds the commands that are printed on lines of their own, with what they do beside them.
var advised = regexp.MustCompile(`(?m)^\s+assay (\S+(?: \S+)*)`)

// advisedWell has the commands that are known to work, by name and flags: that is the same in every world.
var advisedWell = map[string]bool{}

// checkAdvice holds every command that was printed in the world, by whichever command, against those that the program has: each names one
// of them, with flags that it takes. Who adds --help types it without doing it.
func (h *history) checkAdvice(ctx context.Context, _ []runState, _ bill) error {
	for _, s := range h.said {
		text := s.out + s.err
		for _, m := range append(hinted.FindAllStringSubmatch(text, -1), advised.FindAllStringSubmatch(text, -1)...) {
			args := plain(strings.Fields(m[1]))
			key := args[0] + " " + flagsOf(args)
			if advisedWell[key] {
				continue
			}
			var out bytes.Buffer
			got := saying{args: append(args, "--help")}
			got.code = cli.Main(ctx, shell.World{Args: got.args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Now: time.Now,
				Env: func(string) (string, bool) { return "", false }, Disk: shell.Disk{Dir: h.dir}})
			got.out = out.String()
			if got.code != shell.ExitDone || !strings.Contains(got.out, "assay "+args[0]) { // the help of no command is that of all
				return breaks(L11, s.String()+"\n"+got.String(), "a hint is a command that works", "assay %s is refused", m[1])
			}
			advisedWell[key] = true
		}
	}
	return nil
}

// plain leaves out flags whose values a person has to fill in.
func plain(words []string) (out []string) {
	for i := 0; i < len(words); i++ {
		if strings.HasPrefix(words[i], "--") && i+1 < len(words) && placeholder(words[i+1]) {
			i++
			continue
		}
		out = append(out, words[i])
	}
	return out
}

func flagsOf(words []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(words), func(w string) bool { return !strings.HasPrefix(w, "-") }), " ")
}

func placeholder(word string) bool {
	return word == "…" || word == "..." || strings.ToUpper(word) == word && len(word) > 2
}

// typeable reports whether a person would type a hint as it is, and whether it ends by itself.
func typeable(words []string) bool {
	if slices.Contains([]string{"view", "label", "worker", "sim", "gateway", "help"}, words[0]) {
		return false
	}
	return !slices.Contains(words, "--watch") && !slices.ContainsFunc(words, placeholder)
}

// hints returns the commands that were printed last, each once.
func hints(text string) (all [][]string) {
	for _, m := range hinted.FindAllStringSubmatch(text, -1) {
		words := strings.Fields(m[1])
		if typeable(words) && !slices.ContainsFunc(all, func(w []string) bool { return slices.Equal(w, words) }) {
			all = append(all, words)
		}
	}
	return all
}

// checkHints types what the state of a run advises. Each command is one that the program takes, and it changes something, or tells
// something else than to type it.
func (h *history) checkHints(ctx context.Context, r runState) error {
	before := h.assay(ctx, ending{}, "status", r.Run)
	for _, words := range hints(before.out + before.err) {
		args := slices.Clone(words)
		if slices.Contains([]string{"run", "resume", "retry", "redo", "cancel"}, args[0]) && !slices.Contains(args, "--yes") {
			args = append(args, "--yes")
		}
		s := h.assay(ctx, ending{}, args...)
		if err := h.sane(s); err != nil {
			return err
		}
		if s.code == shell.ExitUsage {
			return breaks(L11, before.String()+"\n"+s.String(), "a hint is a command that works", "assay %s is refused",
				strings.Join(args, " "))
		}
		after := h.assay(ctx, ending{}, "status", r.Run)
		again := slices.ContainsFunc(hints(s.out+s.err), func(w []string) bool { return slices.Equal(w, words) })
		if again && after.out == before.out && after.code == before.code {
			return breaks(L11, before.String()+"\n"+s.String(), "a hint changes the state or gives another reason",
				"assay %s tells to type it again", strings.Join(args, " "))
		}
		if after.out != before.out {
			return nil // the other hints were for another state
		}
	}
	return nil
}
