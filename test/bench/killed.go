package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"assay/internal/assay"
	"assay/test/bench/child"
)

// killedBench kills a run when six tenths of it have an answer, resumes it, and holds what the simulator billed against what was asked.
// A run of 10,000,000 (-n) needs 40 GB of disk.
func killedBench(ctx context.Context, b *bench) error {
	n := b.size(runRequests)
	dir := filepath.Join(b.dir, "killed")
	if err := writeStudy(dir, n/runLanes, runText); err != nil {
		return err
	}
	sim, env, err := child.Simulator(ctx, b.assay, filepath.Join(dir, "sim"))
	if err != nil {
		return err
	}
	defer func() { _ = sim.Process.Kill(); _ = sim.Wait() }()
	first, at, err := b.killedAt(ctx, dir, env, n*6/10)
	if err != nil {
		return err
	}
	fmt.Printf("until killed   %s; %.1f µs a request, %d settled\n", first, microsEach(first.CPU, at), at)
	settled, second, err := b.resumed(ctx, dir, env, at)
	if err != nil {
		return err
	}
	fmt.Printf("resumed        %s; %.1f µs a request in all; %.1f s until more was settled (goal: 5)\n", second,
		microsEach(first.CPU+second.CPU, n), settled.Seconds())
	if err := b.afterwards(ctx, dir, n); err != nil {
		return err
	}
	return printBill(env, n) // at last: it takes memory, which Linux counts as that of every process begun later
}

func microsEach(cpu time.Duration, n int) float64 {
	return float64(cpu.Microseconds()) / float64(max(n, 1))
}

// killedAt runs the study and kills it when so many requests have an answer.
func (b *bench) killedAt(ctx context.Context, dir string, env []string, want int) (child.Cost, int, error) {
	run, start, err := b.begin(ctx, dir, env, "run", "study.yaml", "--yes", "--no-canary")
	if err != nil {
		return child.Cost{}, 0, err
	}
	at, err := b.settled(ctx, dir, want, time.Second)
	err = errors.Join(err, run.Process.Kill())
	_ = run.Wait() // killed
	return child.Ended(run, start), at, err
}

// resumed drives the run to its end and returns how long it took until more than so many requests had an answer.
func (b *bench) resumed(ctx context.Context, dir string, env []string, before int) (time.Duration, child.Cost, error) {
	again, start, err := b.begin(ctx, dir, env, "resume")
	if err != nil {
		return 0, child.Cost{}, err
	}
	_, err = b.settled(ctx, dir, before+1, 100*time.Millisecond)
	settled := time.Since(start)
	if err != nil {
		err = errors.Join(err, again.Process.Kill())
	}
	ended := again.Wait()
	var exit *exec.ExitError
	if err == nil && !(errors.As(ended, &exit) && exit.ExitCode() == exitIncomplete) {
		err = ended
	}
	return settled, child.Ended(again, start), err
}

func (b *bench) begin(ctx context.Context, dir string, env []string, args ...string) (*exec.Cmd, time.Time, error) {
	c := exec.CommandContext(ctx, b.assay, args...)
	c.Dir, c.Env = dir, append(os.Environ(), env...)
	start := time.Now()
	return c, start, c.Start()
}

// settled looks at the run until so many requests have an answer or ended without one.
func (b *bench) settled(ctx context.Context, dir string, want int, every time.Duration) (int, error) {
	var run struct {
		Answered int
		Ended    int `json:"ended_without_answer"`
		Closed   *string
	}
	for looks := 0; run.Answered+run.Ended < want; looks++ {
		if looks > 0 {
			time.Sleep(every)
		}
		out, err := exec.CommandContext(ctx, b.assay, "status", "--json", "--home", filepath.Join(dir, "assay-data")).Output()
		if err != nil && run.Answered+run.Ended == 0 && looks < 1000 { // there is no run yet: planning ten million takes minutes
			continue
		}
		if err := errors.Join(err, json.Unmarshal(out, &run)); err != nil {
			return 0, fmt.Errorf("status: %w", err)
		}
		if run.Closed != nil {
			return 0, errors.New("the run was closed before it could be killed: take a larger -n")
		}
	}
	return run.Answered + run.Ended, nil
}

// printBill counts what the simulator was sent and billed, and fails where a request was billed twice.
func printBill(env []string, n int) error {
	root := ""
	for _, v := range env {
		if name, url, _ := strings.Cut(v, "="); name == "OPENAI_BASE_URL" {
			root, _, _ = strings.Cut(url, "/openai")
		}
	}
	resp, err := http.Get(root + "/sim/ledger")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	in := json.NewDecoder(resp.Body)
	for range 3 { // {"jobs":[
		if _, err := in.Token(); err != nil {
			return err
		}
	}
	jobs, sent, billed := 0, 0, make(map[assay.Key]struct{}, n)
	for ; in.More(); jobs++ {
		var job struct {
			CustomIDs []string `json:"custom_ids"`
			Billed    []string
		}
		if err := in.Decode(&job); err != nil {
			return err
		}
		sent += len(job.CustomIDs)
		for _, id := range job.Billed {
			_, key, err := assay.ParseCustomID(id)
			if err != nil {
				return err
			}
			if _, twice := billed[key]; twice {
				return fmt.Errorf("request %s was billed twice", key)
			}
			billed[key] = struct{}{}
		}
	}
	fmt.Printf("bill           %d jobs, %d requests sent, %d billed, none twice\n", jobs, sent, len(billed))
	return nil
}

// afterwards measures what reads the ledger that is left, and its bytes.
func (b *bench) afterwards(ctx context.Context, dir string, n int) error {
	home := filepath.Join(dir, "assay-data")
	ledger, err := os.Stat(filepath.Join(home, "ledger.db"))
	if err != nil {
		return err
	}
	var raw int64
	err = filepath.WalkDir(filepath.Join(home, "runs"), func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			raw += info.Size()
		}
		return err
	})
	if err != nil {
		return err
	}
	ledgerBytes, rawBytes := float64(ledger.Size())/float64(n), float64(raw)/float64(n)
	fmt.Printf("bytes          %.0f of ledger and %.0f of artifacts a request\n", ledgerBytes, rawBytes)
	for _, args := range [][]string{{"status"}, {"runs"}, {"jobs"}} {
		got, err := child.Measure(ctx, 3, b.assay, append(args, "--home", home)...)
		if err != nil {
			return err
		}
		fmt.Printf("assay %-8s %s (goals: 0.3, 0.5, 0.5 s)\n", args[0], got)
	}
	got, err := child.Measure(ctx, 1, b.assay, "export", "--format", "parquet", "--out", filepath.Join(dir, "answers.parquet"),
		"--home", home)
	if err != nil {
		return err
	}
	fmt.Printf("assay export   %s\n", got)
	return nil
}
