package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	_ "modernc.org/sqlite"

	"assay/internal/assay"
	"assay/internal/find/results/grid"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/ledger"
	"assay/internal/keep/store"
)

const (
	viewSegment  = 5_000
	viewLooks    = 7
	viewMost     = 300 * time.Millisecond
	viewRehearse = "rehearsal" // the ledger is made where rehearsals are
)

// viewBench opens the dashboard on a large ledger and looks at every page several times: the median must be below 300 ms, and
// memory must not grow with looking.
func viewBench(ctx context.Context, b *bench) error {
	requests := b.size(1_000_000)
	home := filepath.Join(b.dir, "home")
	began := time.Now()
	key, err := fillView(ctx, filepath.Join(home, viewRehearse), requests, b.lanes)
	if err != nil {
		return err
	}
	fmt.Printf("ledger         %d requests, as many verdicts, %d rows of the grid, made in %.0f s\n", requests, requests/b.lanes,
		time.Since(began).Seconds())
	tokenFile := filepath.Join(b.dir, "token")
	c := exec.CommandContext(ctx, b.assay, "view", "--home", home, "--listen", "127.0.0.1:0", "--token-file", tokenFile)
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	defer c.Wait()
	defer c.Process.Signal(os.Interrupt)
	line := make([]byte, 200)
	n, err := out.Read(line)
	if err != nil {
		return err
	}
	base, token, _ := strings.Cut(strings.TrimSpace(string(line[:n])), "/?token=")
	v := &viewer{base: base, token: token, pid: c.Process.Pid}
	if err := errors.Join(v.make("grid", "/api/runs/bench/grid?limit=1"), v.make("findings", "/api/runs/bench/findings"),
		v.make("search", "/runs/bench/search?stage=answers&q=nowhere")); err != nil {
		return err
	}
	return v.lookAt(viewPaths(key, b.lanes))
}

// viewPaths returns all pages but the search through all answers, with those filters that have to look furthest, and
// the grid with every chip, order and search.
func viewPaths(one assay.Ref, lanes int) []string {
	run := "/runs/bench"
	last := fmt.Sprintf("lane-%d", lanes-1)
	paths := []string{
		"/runs", run, run + "/progress", run + "/segments", run + "/segments/1", run + "/events", run + "/answers",
		run + "/answers?stage=answers&lane=" + last, run + "/answers?ending=errored&lane=" + last, run + "/answers?ending=cut",
		run + "/answers?item=item-7", run + "/answers?verdict=good:no&lane=" + last,
		run + "/answers/" + one.Key.String() + "?item=" + one.Item,
		run + "/item?id=item-7", run + "/verdicts?stage=good", run + "/verdicts?stage=good&lane=" + last + "&label=no",
		run + "/item?id=item-7&stage=answers&lane=" + last, run + "/findings", "/metrics", "/healthz", "/api/runs/bench/answers?limit=1000",
	}
	for _, state := range []string{
		"", "is=all-wrong&is=cut", "sort=item", "sort=item&down=1", "sort=" + last, "sort=" + last + "&down=1", "sort=item&down=1&is=cut",
		"sort=" + last + "&is=cut&down=1", "q=nowhere", "q=question", "q=nowhere&sort=item&down=1", "q=nowhere&is=cut&sort=" + last,
		"q=nowhere&is=flipped", "after=500.500",
	} {
		paths = append(paths, strings.TrimSuffix(run+"/grid?"+state, "?"))
	}
	for _, k := range grid.Kinds() {
		paths = append(paths, run+"/grid?is="+k.Name)
	}
	return paths
}

// viewer looks at a dashboard.
type viewer struct {
	base, token string
	pid         int
}

// make waits for what takes long the first time, and prints how long and in how much memory it was made.
func (v *viewer) make(what, path string) error {
	before, cpu, began := v.memory(), v.cpu(), time.Now()
	if _, err := v.get(path); err != nil {
		return err
	}
	fmt.Printf("%-14s made in %.1f s, %.1f s of CPU; memory %d MB before, %d MB after\n", what, time.Since(began).Seconds(),
		(v.cpu() - cpu).Seconds(), before>>20, v.memory()>>20)
	return nil
}

func (v *viewer) lookAt(paths []string) error {
	var slow []string
	first := v.memory()
	for _, path := range paths {
		var took []time.Duration
		var bytes int64
		cpu := v.cpu()
		for range viewLooks {
			began := time.Now()
			n, err := v.get(path)
			if err != nil {
				return err
			}
			took, bytes = append(took, time.Since(began)), n
		}
		slices.Sort(took)
		median := took[len(took)/2]
		fmt.Printf("%7.1f ms median, %7.1f ms most, %7.1f ms of CPU, %6d kB  %s\n", ms(median), ms(took[len(took)-1]),
			ms(v.cpu()-cpu)/viewLooks, bytes>>10, path)
		if median > viewMost {
			slow = append(slow, path)
		}
	}
	for range 200 {
		for _, path := range paths[:3] {
			if _, err := v.get(path); err != nil {
				return err
			}
		}
	}
	fmt.Printf("memory         %d MB at first, %d MB after %d looks\n", first>>20, v.memory()>>20, len(paths)*viewLooks+600)
	if len(slow) > 0 {
		return fmt.Errorf("more than %s: %s", viewMost, strings.Join(slow, ", "))
	}
	return nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func (v *viewer) get(path string) (int64, error) {
	q, err := http.NewRequest(http.MethodGet, v.base+path, nil)
	if err != nil {
		return 0, err
	}
	q.Header.Set("Authorization", "Bearer "+v.token)
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		return 0, err
	}
	defer a.Body.Close()
	n, err := io.Copy(io.Discard, a.Body)
	if a.StatusCode != http.StatusOK && a.StatusCode != http.StatusUnprocessableEntity {
		return n, fmt.Errorf("%s: %s", path, a.Status)
	}
	return n, err
}

// memory returns what the dashboard holds now, where the system reports it.
func (v *viewer) memory() int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", v.pid))
	var size, resident int64
	if err == nil {
		fmt.Sscan(string(text), &size, &resident)
	}
	return resident * int64(os.Getpagesize())
}

// cpu returns how long the dashboard has computed, where the system reports it: the clock counts what others on the machine do, too.
func (v *viewer) cpu() time.Duration {
	const tick = 10 * time.Millisecond // of the kernel's accounts
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", v.pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	var user, system int64
	fmt.Sscan(fields[11]+" "+fields[12], &user, &system)
	return time.Duration(user+system) * tick
}

// fillView makes a ledger with one settled run. Every twentieth answer has an error, every fiftieth is cut, every answer has a
// verdict.
func fillView(ctx context.Context, dir string, requests, lanesOf int) (assay.Ref, error) {
	var key assay.Ref
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return key, err
	}
	ledger, err := ledger.Open(ctx, filepath.Join(dir, "ledger.db"), ledger.Options{})
	if err != nil {
		return key, err
	}
	defer ledger.Close()
	files, err := artifacts.Open(filepath.Join(dir, "runs"))
	if err != nil {
		return key, err
	}
	defer files.Close()
	run, err := ledger.Runs.CreateRun(ctx,
		store.NewRun{ID: "bench", Study: "bench", Folder: dir, Digest: "d", Settings: `{"file":"study.yaml"}`, Rehearsal: true})
	if err != nil {
		return key, err
	}
	items := requests / lanesOf
	if err := viewStudy(ctx, ledger, run.No, items, lanesOf); err != nil {
		return key, err
	}
	var lanes []store.Lane
	for l := range lanesOf {
		lanes = append(lanes, store.Lane{Run: run.No, Stage: "answers", Name: fmt.Sprintf("lane-%d", l), Provider: "openai", Model: "gpt",
			Params: "{}", Planned: int64(items)})
	}
	if err := errors.Join(ledger.Runs.PutLanes(ctx, lanes), ledger.Runs.OpenRun(ctx, run.No)); err != nil {
		return key, err
	}
	for l := range lanesOf {
		for from := 0; from < items; from += viewSegment {
			k, err := viewSegmentOf(ctx, ledger, run, l, from, min(from+viewSegment, items))
			if err != nil {
				return key, err
			}
			key = k
		}
	}
	return key, judgeView(ctx, filepath.Join(dir, "ledger.db"))
}

// viewStudy writes the study of the run, and its items.
func viewStudy(ctx context.Context, ledger *ledger.Ledger, run int64, items, lanes int) error {
	var text strings.Builder
	text.WriteString("study: bench\ninputs: {q: {file: q.txt}}\nlanes:\n  judge: {model: openai/gpt-4.1}\n")
	for l := range lanes {
		fmt.Fprintf(&text, "  lane-%d: {model: openai/gpt-4.1-mini, max_tokens: %d}\n", l, 100+l)
	}
	text.WriteString("stages:\n  - {name: answers, ask: q, prompt: \"{{ text }}\"}\n" +
		"  - {name: good, judge: answers, rubric: {prompt: \"Good? {{ answer.text }}\", labels: {yes: 1, no: 0}}, judges: judge}\n")
	all := func(yield func(assay.Item, error) bool) {
		for i := range items {
			if !yield(assay.Item{ID: fmt.Sprintf("item-%d", i), Fields: map[string]any{"text": fmt.Sprint("question ", i)}}, nil) {
				return
			}
		}
	}
	return errors.Join(ledger.Runs.PutPart(ctx, run, "file/study.yaml", strings.NewReader(text.String())),
		ledger.Runs.PutItems(ctx, run, "q", all))
}

// judgeView gives every answer a verdict, by one statement: as many rows by the way of the engine would take minutes.
func judgeView(ctx context.Context, file string) error {
	db, err := sql.Open("sqlite", "file:"+file)
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.ExecContext(ctx, `INSERT INTO verdicts (run_no, key, stage, source, item, lane, against, direction, template, turn, branch, draw, judge, prompt, trait, vote,
		subject_key, state, label, reason, fields, second_try, at_ms)
		SELECT run_no, randomblob(16), 'good', 'answers', item, lane, '', '', '', 1, '', 1, 'judge', '', '', 0, key, 'valid', CASE WHEN ord % 500 = 3 THEN 'no' ELSE 'yes' END,
		'', '{}', 0, 0 FROM attempts`)
	return err
}

// viewSegmentOf settles one segment of a lane, and returns one of its requests.
func viewSegmentOf(ctx context.Context, ledger *ledger.Ledger, run store.Run, lane, from, to int) (assay.Ref, error) {
	name, now := fmt.Sprintf("lane-%d", lane), time.Now()
	g, err := ledger.Work.AddSegment(ctx, store.NewSegment{Run: run.No, GroupKey: store.GroupKey{Stage: "answers", Lane: name, Turn: 1},
		Mode: store.Batch, Purpose: store.ForWave, Provider: "openai", Model: "gpt", Nonce: "aaaaaaaaaa"}, "bench", time.Hour)
	if err != nil {
		return assay.Ref{}, err
	}
	var attempts []store.Attempt
	var outcomes []store.Settlement
	cost := assay.Dollars(0.001)
	text := strings.Repeat("An answer of the usual length says a few things. ", 12)
	for i := from; i < to; i++ {
		at := assay.Coordinates{Stage: "answers", Item: fmt.Sprintf("item-%d", i), Lane: name, Turn: 1, Draw: 1}
		k := at.Key()
		attempts = append(attempts, store.Attempt{Ord: int64(i - from), Key: k, Try: 1, At: at})
		o := assay.Outcome{Ending: assay.Answered, Text: text, Finish: "stop", Usage: assay.Usage{Known: true, Input: 100, Output: 120}}
		switch {
		case i%20 == 0:
			o = assay.Outcome{Ending: assay.Errored,
				Fault: &assay.Fault{Class: assay.FaultBusy, Status: 500, Code: "server_error", Message: "it broke"}}
		case i%50 == 1:
			o.Ending = assay.Cut
		}
		outcomes = append(outcomes, store.Settlement{Ord: int64(i - from), Key: k, Outcome: o, Cost: &cost})
	}
	part := store.Bytes{Name: fmt.Sprintf("s%d-in", g.No), Size: 1, SHA256: "00"}
	steps := []func() error{
		func() error { return ledger.Work.AddAttempts(ctx, g.Lease, attempts) },
		func() error { return ledger.Work.Stage(ctx, g.Lease, part, assay.Dollar, 0, now) },
		func() error { return ledger.Work.Upload(ctx, g.Lease, "{}", now) },
		func() error {
			return ledger.Work.Intend(ctx, g.Lease, store.Intent{Account: "k", Stamped: true, Due: now})
		},
		func() error {
			return ledger.Work.Launched(ctx, g.Lease, store.Launch{Job: fmt.Sprintf("job-%d", g.No), At: now, Due: now})
		},
		func() error {
			return ledger.Work.Ended(ctx, g.Lease, store.Sighting{State: "ended", Word: "completed", Counts: "{}", Parts: "[]", Due: now})
		},
		func() error { return ledger.Work.Fetched(ctx, g.Lease, now) },
		func() error { _, err := ledger.Work.Settle(ctx, g.Lease, outcomes); return err },
		func() error { return ledger.Work.Finish(ctx, g.Lease, time.Time{}) },
		func() error { return ledger.Leases.Release(ctx, g.Lease) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return assay.Ref{}, err
		}
	}
	return assay.Ref{Key: attempts[1].Key, Item: attempts[1].At.Item}, nil
}
