package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"assay/test/bench/child"
)

const (
	idleJobs    = 10_000
	idleMinutes = 10
)

// idleBench lets a run wait for ten thousand jobs that do not end, and measures what waiting costs.
func idleBench(ctx context.Context, b *bench) error {
	jobs := b.size(idleJobs)
	dir := filepath.Join(b.dir, "idle")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	var items strings.Builder
	for i := range jobs {
		fmt.Fprintf(&items, "question number %d\n", i)
	}
	err := errors.Join(os.WriteFile(filepath.Join(dir, "study.yaml"), []byte(idleStudy), 0o600),
		os.WriteFile(filepath.Join(dir, "items.txt"), []byte(items.String()), 0o600))
	if err != nil {
		return err
	}
	sim, env, err := child.Simulator(ctx, b.assay, filepath.Join(dir, "sim"), "--fault", "* create stuck=24h")
	if err != nil {
		return err
	}
	defer func() { _ = sim.Process.Kill(); _ = sim.Wait() }()
	run := exec.CommandContext(ctx, b.assay, "run", "study.yaml", "--yes", "--no-canary")
	run.Dir, run.Env = dir, append(os.Environ(), env...)
	if err := run.Start(); err != nil {
		return err
	}
	defer func() { _ = run.Process.Kill(); _ = run.Wait() }()
	if err := b.launched(ctx, dir, jobs); err != nil {
		return err
	}
	before, err := cpuOf(run.Process.Pid)
	if err != nil {
		return err
	}
	time.Sleep(idleMinutes * time.Minute)
	after, err := cpuOf(run.Process.Pid)
	if err != nil {
		return err
	}
	used := after - before
	fmt.Printf("%d open jobs, %d minutes: %s CPU, %.2f%% of a core (goal: 1%% with 1,000, 2%% with 10,000)\n", jobs, idleMinutes, used,
		100*used.Minutes()/idleMinutes)
	return nil
}

const idleStudy = `study: idle
inputs: {items: {file: items.txt}}
lanes: {gpt: {model: openai/gpt-4.1-2025-04-14, max_tokens: 100}}
batch: {size: 1}
stages: [{name: answers, ask: items, prompt: "{{ text }}"}]
`

// launched waits until all jobs are at the provider.
func (b *bench) launched(ctx context.Context, dir string, jobs int) error {
	for {
		c := exec.CommandContext(ctx, b.assay, "sql", "SELECT COUNT(*) FROM segments WHERE state = 'launched'", "--csv")
		c.Dir = dir
		out, err := c.Output()
		var early *exec.ExitError
		if err != nil && !errors.As(err, &early) { // before the run has begun there is no ledger to ask
			return err
		}
		lines := strings.Fields(string(out))
		if len(lines) > 0 && lines[len(lines)-1] == strconv.Itoa(jobs) {
			return nil
		}
		time.Sleep(time.Second)
	}
}

// cpuOf returns the CPU time that another process has used.
func cpuOf(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0, errors.New("cannot read the CPU time of the run")
	}
	var used int64
	for _, f := range fields[11:13] { // user and system
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0, err
		}
		used += n
	}
	return time.Duration(used) * time.Second / ticks, nil
}

// ticks is how often Linux counts in a second.
const ticks = 100
