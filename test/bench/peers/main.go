// Command peers sends the same requests in batches to one simulator through assay and through the programs that people use instead of it,
// and prints what each process cost. It needs Python 3.10 or later, and PyPI once: ASSAY_VENV (Inspect) and ASSAY_VENV_CURATOR name
// environments to use again, as in test/interop/gateway/run.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"assay/test/bench/child"
)

const (
	model     = "gpt-4.1-mini-2025-04-14"
	batchSize = 50_000 // requests of a batch file: the most that OpenAI takes, and what assay sends
)

// peer is one way to have questions answered.
type peer struct {
	name    string
	command []string // of Python programs, what follows the interpreter
	env     []string

	needs, venv string // of Python programs: the file of their requirements, the variable that names an environment
}

func peers(assay, here string) []peer {
	size := fmt.Sprint(batchSize)
	return []peer{
		{name: "assay", command: []string{assay, "run", "study.yaml", "--yes", "--no-canary", "--interval", "1s"}},
		{name: "curator", command: []string{filepath.Join(here, "curate.py"), model, size}, env: []string{"TELEMETRY_ENABLED=false"},
			needs: "requirements-curator.txt", venv: "ASSAY_VENV_CURATOR"},
		{name: "inspect", command: []string{filepath.Join(here, "inspected.py"), "openai/" + model, size},
			needs: "requirements.txt", venv: "ASSAY_VENV"},
	}
}

func main() {
	n := flag.Int("n", 0, "requests; 0: 10,000 and 100,000")
	only := flag.String("only", "", "one of assay, curator, inspect")
	flag.Parse()
	sizes := []int{10_000, 100_000}
	if *n > 0 {
		sizes = []int{*n}
	}
	if err := run(context.Background(), sizes, *only); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, sizes []int, only string) error {
	dir, err := os.MkdirTemp("", "assay-peers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	assay, err := child.Build(dir)
	if err != nil {
		return err
	}
	here, err := filepath.Abs("test/bench/peers")
	if err != nil {
		return err
	}
	for _, p := range peers(assay, here) {
		if only != "" && only != p.name {
			continue
		}
		if p.needs != "" {
			python, err := environment(ctx, filepath.Join(dir, p.name), p.venv, p.needs)
			if err != nil {
				return err
			}
			p.command = append([]string{python}, p.command...)
		}
		for _, n := range sizes {
			at := filepath.Join(dir, fmt.Sprintf("%s-%d", p.name, n))
			if err := ask(ctx, p, assay, at, n); err != nil {
				return fmt.Errorf("%s, %d requests: %w", p.name, n, err)
			}
			if err := os.RemoveAll(at); err != nil {
				return err
			}
		}
	}
	return nil
}

// environment returns the Python of a virtual environment that has what a file of requirements names.
func environment(ctx context.Context, dir, variable, requirements string) (string, error) {
	if named := os.Getenv(variable); named != "" {
		dir = named
	}
	python := filepath.Join(dir, "bin", "python")
	if _, err := os.Stat(python); err != nil {
		if out, err := exec.CommandContext(ctx, "python3", "-m", "venv", dir).CombinedOutput(); err != nil {
			return "", fmt.Errorf("python3 -m venv: %w\n%s", err, out)
		}
	}
	pip := exec.CommandContext(ctx, python, "-m", "pip", "install", "-q", "-r", filepath.Join("test/interop/gateway", requirements))
	if out, err := pip.CombinedOutput(); err != nil {
		return "", fmt.Errorf("pip install -r %s: %w\n%s", requirements, err, out)
	}
	return python, nil
}

// ask has n questions answered by a peer, against a simulator of its own.
func ask(ctx context.Context, p peer, assay, dir string, n int) error {
	if err := write(dir, n); err != nil {
		return err
	}
	sim, env, err := child.Simulator(ctx, assay, filepath.Join(dir, "sim"))
	if err != nil {
		return err
	}
	defer func() { _ = sim.Process.Kill(); _ = sim.Wait() }()
	c := exec.CommandContext(ctx, p.command[0], p.command[1:]...)
	c.Dir, c.Env = dir, append(append(os.Environ(), env...), append(p.env, "HOME="+dir)...)
	var out bytes.Buffer
	c.Stdout = &out
	cost, err := child.Timed(c)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 3 { // a run of assay with an empty answer
		err = nil
	}
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out.String())
	}
	billed, err := bill(ctx, env)
	if err != nil {
		return err
	}
	if billed != n {
		return fmt.Errorf("%d answers were billed\n%s", billed, out.String())
	}
	fmt.Printf("%-8s %8d requests  %s, %.0f µs CPU a request; %s\n", p.name, n, cost, cost.CPU.Seconds()*1e6/float64(n), said(out.String()))
	return nil
}

// write makes the questions, and the study that asks them.
func write(dir string, n int) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "study.yaml"), fmt.Appendf(nil, study, model), 0o600); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(dir, "items.jsonl"))
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	random, words := rand.New(rand.NewPCG(1, 2)), strings.Fields("what a model says of rain and rivers is held against what people know")
	for i := range n {
		text := fmt.Sprintf("Question %d:", i)
		for len(text) < 300 {
			text += " " + words[random.IntN(len(words))]
		}
		if err := json.NewEncoder(w).Encode(map[string]string{"id": fmt.Sprintf("item-%06d", i), "text": text}); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	hour := time.Now().Add(-time.Hour) // as people's are: nobody asks about a file of this second
	return os.Chtimes(f.Name(), hour, hour)
}

const study = `study: peers
inputs: {items: {file: items.jsonl}}
lane_defaults: {max_tokens: 500}
lanes: {mini: {model: openai/%s}}
stages: [{name: answers, ask: items, prompt: "{{ text }}"}]
`

// bill returns how many answers of batches the simulator has billed.
func bill(ctx context.Context, env []string) (int, error) {
	var root string
	for _, v := range env {
		if name, url, _ := strings.Cut(v, "="); name == "OPENAI_BASE_URL" {
			root, _, _ = strings.Cut(url, "/openai")
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, root+"/sim/ledger", nil)
	if err != nil {
		return 0, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	var ledger struct {
		Jobs []struct{ Billed []string }
	}
	if err := json.NewDecoder(res.Body).Decode(&ledger); err != nil {
		return 0, err
	}
	n := 0
	for _, j := range ledger.Jobs {
		n += len(j.Billed)
	}
	return n, nil
}

// said returns the line in which a peer says how many answers it has.
func said(out string) string {
	for line := range strings.Lines(out) {
		if strings.Contains(line, "answer") {
			return strings.TrimSpace(line)
		}
	}
	return "it does not say how many answers it has"
}
