package worlds

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"assay/internal/assay"
	"assay/internal/show/cli/shell"
	"assay/internal/simulator"
	"assay/internal/study/catalog"
)

// acknowledged finds how many labels a session has kept.
var acknowledged = regexp.MustCompile(`(?m)^([0-9]+) labels? by human:ada in this session`)

// label judges a few answers or pairs by hand, if the study has any to judge.
func (h *history) label(ctx context.Context, a Action) error {
	stage, keys := "", []string{"1", "2", "n", "u", "s"}
	switch {
	case h.study.labelled():
		stage = "good"
	case h.study.Compare != "":
		stage, keys = "arena", []string{"a", "b", "t", "n", "u"}
	default:
		return nil
	}
	var types strings.Builder
	for range 3 + h.rng.IntN(6) {
		types.WriteString(keys[min(h.rng.IntN(len(keys)), h.rng.IntN(len(keys)))] + "\n")
	}
	s := h.tells(ctx, a.End, types.String()+"q\n", "label", "latest", stage, "--as", "ada")
	if m := acknowledged.FindStringSubmatch(s.out); m != nil && s.code == shell.ExitDone {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			return err
		}
		h.labels += n
	}
	return h.sane(s)
}

// checkLabels counts what people said: a label that was acknowledged is there.
func (h *history) checkLabels(ctx context.Context, all []runState, _ bill) error {
	if h.back {
		return nil
	}
	kept := 0
	err := h.rows(ctx, `SELECT COUNT(*) FROM verdicts WHERE judge = 'human:ada' AND stale = 0`, func(row *sql.Rows) error {
		return row.Scan(&kept)
	})
	if err == nil && kept < h.labels {
		err = breaks(L5, h.statuses(ctx, all), fmt.Sprintf("%d labels that were acknowledged are kept", h.labels), "%d are", kept)
	}
	return err
}

// rotate gives the program other keys at every provider, or those of the beginning again.
func (h *history) rotate() {
	h.rotated, h.rekeyed = !h.rotated, true
	for name := range h.sim.BaseURLs("") {
		v, ok := catalog.Default().Vendor(name)
		if !ok || len(v.KeyEnv) == 0 || h.env[v.KeyEnv[0]] == "" {
			continue
		}
		h.env[v.KeyEnv[0]] = secret
		if h.rotated {
			h.env[v.KeyEnv[0]] = secret + "b"
		}
	}
}

// copied copies the home to another folder and drives what is open in the copy.
func (h *history) copied(ctx context.Context) error {
	all, err := h.runs(ctx)
	if err != nil || len(all) == 0 {
		return err
	}
	there := filepath.Join(h.dir, "copy")
	if err := errors.Join(os.RemoveAll(there), os.CopyFS(there, os.DirFS(h.home()))); err != nil {
		return err
	}
	h.back = true // from now on the providers know more than the home
	return h.sane(h.assay(ctx, ending{}, "resume", "--all", "--home", "copy"))
}

// lost loses the home, and recovers what the providers of the study still hold.
func (h *history) lost(ctx context.Context, a Action) error {
	all, err := h.runs(ctx)
	if err != nil || len(all) == 0 {
		return err
	}
	h.back, h.ran = true, false
	h.severed = len(h.live) > 0
	if h.held, err = h.handedOut(); err != nil {
		return err
	}
	if err := errors.Join(h.m.links.drop(), os.RemoveAll(h.home())); err != nil {
		return err
	}
	vendors := h.study.vendors()
	for _, vendor := range append(vendors, vendors...) { // judges' answers may be found before those that they judge
		for _, end := range []ending{a.End, {}} { // who is disturbed does it again
			s := h.assay(ctx, end, "adopt", vendor, "--study", "study.yaml")
			if noRoom := end.How == full && strings.Contains(s.err, syscall.ENOSPC.Error()); !noRoom && h.sane(s) != nil {
				return h.sane(s)
			}
			if end.How == power {
				if err := h.m.loseUnsynced(); err != nil {
					return err
				}
			}
			if a.End.How == "" {
				break
			}
		}
	}
	return nil
}

// handedOut counts how often each request was billed in a batch so far.
func (h *history) handedOut() (map[string]int, error) {
	n := map[string]int{}
	err := h.sim.EachCharge(func(c simulator.Charge) error {
		_, key, err := assay.ParseCustomID(c.ID)
		n[key.String()]++
		return err
	})
	return n, err
}

// checkRecovered holds what a lost home has paid for again against what providers still held: an answer of a batch that had ended is
// recovered, and not bought a second time.
func (h *history) checkRecovered(ctx context.Context, all []runState, b bill) error {
	losing := func(f string) bool { return !strings.Contains(f, " ask ") && !strings.Contains(f, " upload ") }
	if len(h.held) == 0 || h.severed || slices.ContainsFunc(h.Faults, losing) {
		return nil
	}
	for key, was := range h.held {
		if now := len(b.batch[key]); now > was {
			return breaks(L1, h.statuses(ctx, all), "what a provider holds of a home that was lost is recovered",
				"%s was billed %d times before, and %d times in all", b.batch[key][0].ID, was, now)
		}
	}
	return nil
}

// tune changes what the newest run may send.
func (h *history) tune(ctx context.Context, a Action) error {
	lane := h.study.Lanes[h.rng.IntN(len(h.study.Lanes))].Name
	change := [][]string{{"--pause", lane}, {"--pause", lane}, {"--unpause", lane}, {"--concurrency", "1"},
		{"--rate", "30/min", "--lane", lane}, {"--reset"}}[h.rng.IntN(6)]
	s := h.assay(ctx, a.End, append([]string{"tune"}, change...)...)
	if a.End.How == power {
		if err := h.m.loseUnsynced(); err != nil {
			return err
		}
	}
	return h.sane(s)
}
