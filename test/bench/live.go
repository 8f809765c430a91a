package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"assay/internal/keep/ledger"
	"assay/test/bench/child"
)

const (
	liveWidth   = 64
	liveLatency = 50 * time.Millisecond
)

// liveBench holds live requests against a simulator in a process of its own, and against two loops with as many in flight: a bare one
// that throws the answers away, and one that writes and syncs the same bytes before it counts an answer. Under a latency the bare loop
// is the measure, without one the machine is the limit, and the syncing loop is. Machines are noisy: without a latency it is done three
// times, each between two of both loops, and the middle one counts.
// How many requests that part asks can be given: bench -n 1000000 live; above a hundred thousand it is done once.
func liveBench(ctx context.Context, b *bench) error {
	n := b.size(100_000)
	slow, err := liveRun(ctx, b, "slow", liveLatency, 20_000)
	if err != nil {
		return err
	}
	ideal := liveWidth / liveLatency.Seconds()
	fmt.Printf("%s latency, %d in flight: assay %.0f/s, bare loop %.0f/s, ideal %.0f/s\n", liveLatency, liveWidth, slow.rate,
		slow.bare, ideal)
	fmt.Printf("ratio            %.1f%% of the bare loop (at least 98%%), %.1f%% of the ideal, %.1f%% of the syncing loop (%.0f/s)\n",
		100*slow.rate/slow.bare, 100*slow.rate/ideal, 100*slow.rate/slow.synced, slow.synced)
	times := 3
	if n > 100_000 {
		times = 1
	}
	var all []liveFigures
	for i := range times {
		fast, err := liveRun(ctx, b, fmt.Sprint("fast", i), 0, n)
		if err != nil {
			return err
		}
		fmt.Printf("no latency, %d requests: assay %.0f/s, every answer durable; bare loop %.0f/s, syncing loop %.0f/s; %s\n", n, fast.rate,
			fast.bare, fast.synced, fast.cost)
		all = append(all, fast)
	}
	slices.SortFunc(all, func(a, b liveFigures) int { return cmp.Compare(a.rate/a.synced, b.rate/b.synced) })
	fast := all[len(all)/2]
	fmt.Printf("ratio            %.1f%% of the syncing loop (at least 90%%), %.1f%% of the bare loop, the middle of %d; "+
		"peak %d MB (under 200)\n", 100*fast.rate/fast.synced, 100*fast.rate/fast.bare, times, fast.cost.Peak>>20)
	return nil
}

// liveFigures are requests a second.
type liveFigures struct {
	rate, bare, synced float64
	cost               child.Cost
}

func liveRun(ctx context.Context, b *bench, name string, latency time.Duration, n int) (f liveFigures, err error) {
	address, stop, err := liveServe(ctx, b, latency)
	if err != nil {
		return f, err
	}
	defer stop()
	dir := filepath.Join(b.dir, name)
	if err := liveStudy(dir, n); err != nil {
		return f, err
	}
	self, err := os.Executable()
	if err != nil {
		return f, err
	}
	floors := func() error { // before and after: the mean counts
		for file, rate := range map[string]*float64{"": &f.bare, filepath.Join(dir, "floor"): &f.synced} {
			before := time.Now()
			if _, err := child.Measure(ctx, 1, self, "floor-of-live", fmt.Sprint(address, " ", min(n, 40_000), " ", file)); err != nil {
				return err
			}
			*rate += float64(min(n, 40_000)) / time.Since(before).Seconds() / 2
		}
		return nil
	}
	if err := floors(); err != nil {
		return f, err
	}
	if f.cost, err = b.askLive(ctx, dir, address); err != nil {
		return f, err
	}
	if err := floors(); err != nil {
		return f, err
	}
	f.rate, err = liveRate(ctx, filepath.Join(dir, "home", "ledger.db"), n)
	return f, err
}

// askLive runs the study of a folder against a simulator.
func (b *bench) askLive(ctx context.Context, dir, address string) (child.Cost, error) {
	for name, value := range map[string]string{"OPENAI_API_KEY": "sim", "OPENAI_BASE_URL": "http://" + address + "/openai/v1"} {
		if err := os.Setenv(name, value); err != nil {
			return child.Cost{}, err
		}
	}
	return child.Measure(ctx, 1, b.assay, "run", filepath.Join(dir, "study.yaml"), "--yes", "--home", filepath.Join(dir, "home"))
}

// liveServe starts a simulator in a process of its own.
func liveServe(ctx context.Context, b *bench, latency time.Duration) (address string, stop func(), err error) {
	sim := exec.CommandContext(ctx, b.assay, "sim", "--listen", "127.0.0.1:0", "--latency", latency.String())
	out, err := sim.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	sim.Stderr = sim.Stdout
	if err := sim.Start(); err != nil {
		return "", nil, err
	}
	stop = func() { sim.Process.Kill(); sim.Wait() }
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		_, rest, ok := strings.Cut(lines.Text(), "http://")
		if address, _, found := strings.Cut(rest, ";"); ok && found {
			go io.Copy(io.Discard, out)
			return address, stop, nil
		}
	}
	stop()
	return "", nil, errors.New("the simulator does not say where it is")
}

// liveStudy writes a study of n short questions to one lane.
func liveStudy(dir string, n int) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	study := fmt.Sprintf(`study: live
mode: live
inputs: {items: {file: items.txt}}
lanes: {gpt: {model: openai/gpt-4.1-2025-04-14, max_tokens: 50, concurrency: %d}}
stages: [{name: answers, ask: items, prompt: "{{ text }}"}]
`, liveWidth)
	if err := os.WriteFile(filepath.Join(dir, "study.yaml"), []byte(study), 0o600); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(dir, "items.txt"))
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	for i := range n {
		fmt.Fprintln(w, liveQuestion(i))
	}
	return errors.Join(w.Flush(), f.Close())
}

func liveQuestion(i int) string {
	return fmt.Sprintf("Question %d: which of the stones at the old mill does the winter light reach first, and why?", i)
}

// liveRate returns how many answers a second were committed, in the middle of a run.
func liveRate(ctx context.Context, where string, n int) (float64, error) {
	s, err := ledger.Open(ctx, where, ledger.Options{})
	if err != nil {
		return 0, err
	}
	defer s.Close()
	var at []int64
	err = s.Reader.Query(ctx,
		fmt.Sprintf(`SELECT at_ms FROM (SELECT at_ms, ROW_NUMBER() OVER (ORDER BY at_ms) AS place FROM outcomes WHERE stands = 1) AS o
		WHERE place IN (%d, %d) ORDER BY place`, n/5, n*9/10), func(_ []string, values []any) error {
			at = append(at, values[0].(int64))
			return nil
		})
	if err != nil {
		return 0, err
	}
	if len(at) != 2 || at[1] == at[0] {
		return 0, fmt.Errorf("not all of %d requests were answered", n)
	}
	return float64(n*9/10-n/5) / (float64(at[1]-at[0]) / 1000), nil
}
