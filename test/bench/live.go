package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"assay/internal/keep/ledger"
)

const (
	liveWidth   = 64
	liveLatency = 50 * time.Millisecond
)

// liveBench holds live requests against a simulator in a process of its own: under a latency against the throughput that
// 64 requests in flight can have, without one against a loop that throws the answers away. Without a latency the machine
// is the limit, and machines are noisy: it is done three times, each between two bare loops, and the middle one counts.
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
	fmt.Printf("ratio            %.1f%% of the ideal (at least 97%%); the bare loop has %.1f%%\n", 100*slow.rate/ideal, 100*slow.bare/ideal)
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
		fmt.Printf("no latency, %d requests: assay %.0f/s, every answer durable; bare loop %.0f/s; %s\n", n, fast.rate,
			fast.bare, fast.cost)
		all = append(all, fast)
	}
	slices.SortFunc(all, func(a, b liveFigures) int { return cmp.Compare(a.rate/a.bare, b.rate/b.bare) })
	fast := all[len(all)/2]
	fmt.Printf("ratio            %.1f%% of the bare loop (at least 50%%), the middle of %d; peak %d MB (under 200)\n",
		100*fast.rate/fast.bare, times, fast.cost.peak>>20)
	return nil
}

// liveFigures are requests a second.
type liveFigures struct {
	rate, bare float64
	cost       cost
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
	bare := func() error {
		before := time.Now()
		if _, err := measure(ctx, 1, self, "floor-of-live", fmt.Sprint(address, " ", min(n, 40_000))); err != nil {
			return err
		}
		f.bare += float64(min(n, 40_000)) / time.Since(before).Seconds() / 2
		return nil
	}
	if err := bare(); err != nil {
		return f, err
	}
	if f.cost, err = b.askLive(ctx, dir, address); err != nil {
		return f, err
	}
	if err := bare(); err != nil { // before and after: the mean counts
		return f, err
	}
	f.rate, err = liveRate(ctx, filepath.Join(dir, "home", "ledger.db"), n)
	return f, err
}

// askLive runs the study of a folder against a simulator.
func (b *bench) askLive(ctx context.Context, dir, address string) (cost, error) {
	for name, value := range map[string]string{"OPENAI_API_KEY": "sim", "OPENAI_BASE_URL": "http://" + address + "/openai/v1"} {
		if err := os.Setenv(name, value); err != nil {
			return cost{}, err
		}
	}
	return measure(ctx, 1, b.assay, "run", filepath.Join(dir, "study.yaml"), "--yes", "--home", filepath.Join(dir, "home"))
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

// liveFloor asks the same questions with as many requests in flight, and throws the answers away.
func liveFloor(arg string) error {
	address, count, _ := strings.Cut(arg, " ")
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = liveWidth
	client := &http.Client{Transport: t}
	next := make(chan int)
	failed := make(chan error, liveWidth)
	var wg sync.WaitGroup
	for range liveWidth {
		wg.Go(func() {
			for i := range next {
				if err := liveAsk(client, address, i); err != nil {
					failed <- err
					for range next { // the others go on
					}
					return
				}
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
	close(failed)
	return <-failed
}

func liveAsk(client *http.Client, address string, i int) error {
	body := fmt.Appendf(nil, `{"model":"gpt-4.1-2025-04-14","max_output_tokens":50,"store":false,"input":[{"role":"user","content":%q}]}`,
		liveQuestion(i))
	req, err := http.NewRequest("POST", "http://"+address+"/openai/v1/responses", bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer sim")
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return errors.New(resp.Status)
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}
