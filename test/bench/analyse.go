package main

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"

	"assay/internal/assay"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/ledger"
	"assay/internal/keep/store"
	"assay/internal/send/script"
	"assay/internal/send/script/snapshot"
	"assay/internal/study/catalog"
	"assay/test/bench/child"
)

const (
	analyseVerdicts = 1_000_000
	verdictsOfItem  = 8 // four lanes judged, and as many showings compared
)

const analyseStudy = `study: bench
inputs: {q: {file: q.txt}}
lane_defaults: {max_tokens: 50}
lanes:
  a: {model: openai/gpt-4.1-mini, temperature: 0}
  b: {model: openai/gpt-4.1, temperature: 0}
  c: {model: openai/gpt-4o, temperature: 0}
  d: {model: openai/gpt-4o-mini, temperature: 0}
  judge: {model: openai/gpt-4.1-nano, temperature: 0}
stages:
  - {name: answers, ask: q, prompt: "{{ text }}", lanes: [a, b, c, d]}
  - name: fine
    judge: answers
    rubric: {prompt: "Fine? {{ answer.text }} Label yes or no.", labels: {yes: 1, no: 0}}
    judges: judge
  - {name: arena, compare: answers, rubric: better, judges: judge, pairs: {sample: %d, order: both}}
`

// analyseBench holds `assay analyse` of a million verdicts against reading the same rows to nowhere, and its memory against that
// of a quarter of them; -n is how many.
func analyseBench(ctx context.Context, b *bench) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var few child.Cost
	most := max(b.size(analyseVerdicts)/verdictsOfItem, 4)
	for _, items := range []int{most / 4, most} {
		home := filepath.Join(b.dir, fmt.Sprint("analyse", items))
		n, err := writeVerdicts(ctx, b, home, items)
		if err != nil {
			return err
		}
		floor, err := child.Measure(ctx, 1, self, "floor-of-analyse", filepath.Join(home, "home", "rehearsal", "ledger.db"))
		if err != nil {
			return err
		}
		got, err := child.Measure(ctx, 1, b.assay, "analyse", "--home", filepath.Join(home, "home"), "--json")
		if err != nil {
			return err
		}
		fmt.Printf("reading alone  %s for %d verdicts\n", floor, n)
		fmt.Printf("assay analyse  %s (a million within 10 s)\n", got)
		if items < most {
			few = got
			continue
		}
		fmt.Printf("memory         %d MB peak (under 100), %.2f of that of a quarter\n", got.Peak>>20, float64(got.Peak)/float64(few.Peak))
	}
	return nil
}

// writeVerdicts prepares a run that its budget stops at once, and writes a verdict wherever one is expected.
func writeVerdicts(ctx context.Context, b *bench, dir string, items int) (int, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return 0, err
	}
	f, err := os.Create(filepath.Join(dir, "q.txt"))
	if err != nil {
		return 0, err
	}
	w := bufio.NewWriter(f)
	for i := range items {
		fmt.Fprintf(w, "question %d\n", i)
	}
	if err := w.Flush(); err != nil {
		return 0, err
	}
	if err := f.Close(); err != nil {
		return 0, err
	}
	file := filepath.Join(dir, "study.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, analyseStudy, 2*items), 0o600); err != nil {
		return 0, err
	}
	home := filepath.Join(dir, "home")
	c := exec.CommandContext(ctx, b.assay, "run", file, "--rehearse", "--yes", "--no-canary", "--budget", "0.000001", "--home", home)
	if out, err := c.CombinedOutput(); c.ProcessState == nil || c.ProcessState.ExitCode() != 4 {
		return 0, fmt.Errorf("prepare a run: %w\n%s", err, out)
	}
	return fillVerdicts(ctx, filepath.Join(home, "rehearsal"))
}

func fillVerdicts(ctx context.Context, home string) (int, error) {
	ledger, err := ledger.Open(ctx, filepath.Join(home, "ledger.db"), ledger.Options{})
	if err != nil {
		return 0, err
	}
	defer ledger.Close()
	files, err := artifacts.Open(filepath.Join(home, "runs"))
	if err != nil {
		return 0, err
	}
	defer files.Close()
	run, err := ledger.Reader.FindRun(ctx, "latest", "")
	if err != nil {
		return 0, err
	}
	planner := &script.Library{Files: files, Store: snapshot.Store{
		Runs: ledger.Runs, Leases: ledger.Leases, Imports: ledger.Imports, Reader: ledger.Reader, Catalog: catalog.Default()}}
	rng, n := rand.New(rand.NewPCG(5, 6)), 0
	for stage, labels := range map[string][]string{"fine": {"yes", "no"}, "arena": {assay.LabelA, assay.LabelB, assay.LabelTie}} {
		var block []store.Verdict
		for at, err := range planner.Expected(ctx, run, stage) {
			if err != nil {
				return n, err
			}
			k := rng.IntN(len(labels))
			score := [...]float64{1, 0, 0.5}[k]
			n++
			block = append(block, store.Verdict{Run: run.No, At: at, Subject: at.Key(), State: assay.VerdictValid, Label: labels[k],
				Score: &score})
			if len(block) < 5000 {
				continue
			}
			if _, err := ledger.Runs.AddVerdicts(ctx, block); err != nil {
				return n, err
			}
			block = block[:0]
		}
		if _, err := ledger.Runs.AddVerdicts(ctx, block); err != nil {
			return n, err
		}
	}
	return n, nil
}

// analyseFloor reads all verdicts of the newest run, to nowhere.
func analyseFloor(name string) error {
	ctx := context.Background()
	ledger, err := ledger.Open(ctx, name, ledger.Options{})
	if err != nil {
		return err
	}
	defer ledger.Close()
	run, err := ledger.Reader.FindRun(ctx, "latest", "")
	if err != nil {
		return err
	}
	for _, err := range ledger.Reader.Verdicts(ctx, run.No, "") {
		if err != nil {
			return err
		}
	}
	return nil
}
