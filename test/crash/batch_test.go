package crash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// batchKill is one step of the way of a plain batch file that is killed in its middle.
type batchKill struct {
	before [][]string // steps that nothing disturbs
	step   []string
	at     Point
	open   bool // the jobs that were made before are still open when the step begins
}

func batchKills() []batchKill {
	submit := []string{"batch", "submit", "in.jsonl", "--yes", "--size", "3"}
	resume := []string{"resume", "in.jsonl", "--interval", "10ms"}
	collect := []string{"batch", "collect", "in.jsonl", "--partial", "--output", "early.jsonl", "--force"}
	cancel := []string{"cancel", "in.jsonl"}
	retry := []string{"retry", "in.jsonl", "--yes"}
	sent, stopped := [][]string{submit}, [][]string{submit, cancel, resume}
	kills := []batchKill{}
	add := func(k batchKill, points ...Point) {
		for _, p := range points {
			k.at = p
			kills = append(kills, k)
		}
	}
	add(batchKill{step: submit}, Point{"ledger put items", 2, After}, Point{"ledger create run", 1, After},
		Point{"ledger open run", 1, After}, Point{"ledger open run", 1, Before}, Point{"POST /openai/v1/files", 1, Upload},
		Point{"ledger stage", 1, After}, Point{"POST /openai/v1/batches", 1, Accepted}, Point{"POST /openai/v1/files", 2, Accepted},
		Point{"ledger intend", 1, After}, Point{"POST /openai/v1/batches", 2, Download})
	add(batchKill{before: sent, step: resume}, Point{"GET /openai/v1/files/*/content", 1, Download},
		Point{"GET /openai/v1/batches/*", 1, Accepted}, Point{"ledger settle", 1, After}, Point{"ledger close run", 1, Before})
	add(batchKill{before: sent, step: collect, open: true}, Point{"ledger give order", 1, After}, Point{"ledger obey order", 1, Before})
	add(batchKill{before: sent, step: cancel, open: true}, Point{"POST /openai/v1/batches/*/cancel", 1, Accepted},
		Point{"ledger give order", 1, After})
	add(batchKill{before: stopped, step: retry}, Point{"ledger send again", 1, After}, Point{"ledger reopen run", 1, After},
		Point{"ledger intend", 1, After}, Point{"ledger give order", 1, After})
	return half(kills, *points)
}

// TestAKillInTheMiddleOfAnyStepOfAPlainBatchCostsNothing kills the commands for plain files in their middle, gives the same
// command again, and wants every line of the file answered, in order, and billed once.
func TestAKillInTheMiddleOfAnyStepOfAPlainBatchCostsNothing(t *testing.T) {
	t.Parallel()
	all := batchKills()
	dirs := t.TempDir()
	missed := make([]bool, len(all))
	each(len(all), func(i int) {
		reached, err := all[i].hold(t.Context(), filepath.Join(dirs, fmt.Sprint(i)))
		if err != nil {
			t.Errorf("%s, killed at %s: %v", strings.Join(all[i].step, " "), all[i].at, err)
		}
		missed[i] = !reached
	})
	n := 0
	for i, m := range missed {
		if m {
			n++
			t.Logf("%s came to no kill at %s", strings.Join(all[i].step, " "), all[i].at)
		}
	}
	if n > len(all)/4 {
		t.Errorf("%d of %d commands came to no kill: the proof sees too little", n, len(all))
	}
}

func (k batchKill) hold(ctx context.Context, dir string) (reached bool, err error) {
	s, err := open(dir, "batch", "", "openai create stuck=1h x2") // both jobs of the first submit
	if err != nil {
		return false, err
	}
	defer s.close()
	for _, args := range k.before {
		if e, err := s.assay(ctx, nil, args...); err != nil || e.code != 0 && e.code != 3 {
			return false, errors.Join(err, fmt.Errorf("%s: %s", strings.Join(args, " "), e))
		}
	}
	begin := func() error { // jobs that are stuck go on
		return s.tell(ctx, "POST", "/sim/clock", `{"advance":"2h"}`)
	}
	if !k.open {
		if err := begin(); err != nil {
			return false, err
		}
	}
	e, err := s.assay(ctx, &k.at, k.step...)
	if err != nil {
		return false, err
	}
	resume := []string{"resume", "in.jsonl", "--interval", "10ms"}
	for _, args := range [][]string{k.step, resume, {"retry", "in.jsonl", "--yes"}, resume} {
		if err := begin(); err != nil {
			return e.reached, err
		}
		if e, err := s.assay(ctx, nil, args...); err != nil || e.code != 0 && e.code != 3 {
			return e.reached, errors.Join(err, fmt.Errorf("after the kill: %s: %s", strings.Join(args, " "), e))
		}
	}
	c, err := s.assay(ctx, nil, "batch", "collect", "in.jsonl", "--output", "out.jsonl")
	if err != nil || c.code != 0 {
		return e.reached, errors.Join(err, fmt.Errorf("collect: %s", c))
	}
	return e.reached, errors.Join(s.inOrder("out.jsonl"), s.sound(ctx), s.paidOnce(ctx, 0))
}

// inOrder wants the results of every line of in.jsonl, in its order, under its own ids.
func (s *session) inOrder(name string) error {
	var want, got []string
	for file, ids := range map[string]*[]string{"in.jsonl": &want, name: &got} {
		text, err := os.ReadFile(filepath.Join(s.dir, file))
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(text)) {
			var l struct {
				ID string `json:"custom_id"`
			}
			if err := json.Unmarshal([]byte(line), &l); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			*ids = append(*ids, l.ID)
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		return errors.New("ids of the results (-want +got):\n" + d)
	}
	return nil
}
