package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	_ "modernc.org/sqlite" // the driver of the floor's own ledger

	"assay/internal/keep/artifacts"
	"assay/test/bench/child"
)

const (
	runRequests = 1_000_000
	runLanes    = 10 // of planStudy
	runText     = 300
)

// runBench holds a whole run against the sum of what no program can do without: encoding, copying over loopback, parsing and
// inserting the same bytes. The simulator is another process; the run's own CPU counts, because most of the wall
// time it waits for the simulator, with which it shares the machine.
func runBench(ctx context.Context, b *bench) error {
	n := b.size(runRequests)
	large, small := filepath.Join(b.dir, "run"), filepath.Join(b.dir, "run-few")
	few, err := b.wholeRun(ctx, small, n/10)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(small); err != nil {
		return err
	}
	got, err := b.wholeRun(ctx, large, n)
	if err != nil {
		return err
	}
	status, err := child.Measure(ctx, 3, b.assay, "status", "--home", filepath.Join(large, "assay-data"))
	if err != nil {
		return err
	}
	floor, err := b.runFloor(ctx, large)
	if err != nil {
		return err
	}
	fmt.Printf("assay run      %s\n", got)
	fmt.Printf("ratio          %.2f of CPU, %.2f of wall time with all waiting for the simulator (at most 3)\n",
		got.CPU.Seconds()/floor.CPU.Seconds(), got.Wall.Seconds()/floor.Wall.Seconds())
	fmt.Printf("a tenth of it  %s\n", few)
	fmt.Printf("memory         %d MB peak (under 300), %.2f of that of a tenth\n", got.Peak>>20, float64(got.Peak)/float64(few.Peak))
	fmt.Printf("assay status   %s (goal: 0.2 s)\n", status)
	return nil
}

// wholeRun runs a study of so many requests against a simulator in a process of its own.
func (b *bench) wholeRun(ctx context.Context, dir string, requests int) (child.Cost, error) {
	if err := writeStudy(dir, requests/runLanes, runText); err != nil {
		return child.Cost{}, err
	}
	sim, env, err := child.Simulator(ctx, b.assay, filepath.Join(dir, "sim"))
	if err != nil {
		return child.Cost{}, err
	}
	defer func() { _ = sim.Process.Kill(); _ = sim.Wait() }()
	run := exec.CommandContext(ctx, b.assay, "run", "study.yaml", "--yes", "--no-canary")
	run.Dir, run.Env = dir, append(os.Environ(), env...)
	got, err := child.Timed(run)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == exitIncomplete {
		err = nil
	}
	return got, err
}

// exitIncomplete is the exit code of a run that is done and has requests without an answer: a simulated model may fall
// silent, as real ones do.
const exitIncomplete = 3

// runFloor measures the floors over the bytes and rows that a run left behind.
func (b *bench) runFloor(ctx context.Context, dir string) (child.Cost, error) {
	self, err := os.Executable()
	if err != nil {
		return child.Cost{}, err
	}
	all, results := filepath.Join(b.dir, "all"), filepath.Join(b.dir, "results")
	if err := gather(filepath.Join(dir, "assay-data"), all, results); err != nil {
		return child.Cost{}, err
	}
	server, address, err := serveFile(ctx, self, all)
	if err != nil {
		return child.Cost{}, err
	}
	defer func() { _ = server.Process.Kill(); _ = server.Wait() }()
	var sum child.Cost
	for _, f := range []struct{ what, name, arg string }{
		{"encoding", "floor-of-plan", dir}, {"copying", "floor-of-fetch-copy", address}, {"parsing", "floor-of-fetch-parse", results},
		{"inserting", "floor-of-run-insert", filepath.Join(dir, "assay-data", "ledger.db")},
	} {
		c := exec.CommandContext(ctx, self, f.name, f.arg)
		var out bytes.Buffer
		c.Stdout = &out
		got, err := child.Timed(c)
		if err != nil {
			return sum, err
		}
		if out.Len() > 0 { // it knows better how long the work alone took
			var wall, cpu int64
			if _, err := fmt.Sscan(out.String(), &wall, &cpu); err != nil {
				return sum, err
			}
			got.Wall, got.CPU = time.Duration(wall), time.Duration(cpu)
		}
		fmt.Printf("%-14s %s\n", f.what, got)
		sum.Wall, sum.CPU = sum.Wall+got.Wall, sum.CPU+got.CPU
	}
	return sum, nil
}

// gather writes all raw bytes of a run into one file, and those of results into another.
func gather(home, all, results string) error {
	runs := filepath.Join(home, "runs")
	folder, err := artifacts.Open(runs)
	if err != nil {
		return err
	}
	defer folder.Close()
	found, err := os.ReadDir(runs)
	if err != nil {
		return err
	}
	a, err := os.Create(all)
	if err != nil {
		return err
	}
	r, err := os.Create(results)
	if err != nil {
		return err
	}
	for _, run := range found {
		if !run.IsDir() {
			continue
		}
		names, err := artifacts.Names(context.Background(), folder, run.Name())
		if err != nil {
			return err
		}
		for _, name := range names {
			to := io.Writer(a)
			if !strings.HasSuffix(name, "-in") {
				to = io.MultiWriter(a, r)
			}
			f, err := folder.Open(context.Background(), run.Name(), name)
			if err != nil {
				return err
			}
			_, err = io.Copy(to, f)
			if err = errors.Join(err, f.Close()); err != nil {
				return err
			}
		}
	}
	return errors.Join(a.Close(), r.Close())
}

// runInsert inserts the attempts and outcomes of a ledger into an empty one with the same tables and indexes, many rows a
// statement, and prints how long that took: wall time and CPU, in nanoseconds.
func runInsert(ledger string) error {
	from, err := sql.Open("sqlite", ledger)
	if err != nil {
		return err
	}
	defer from.Close()
	dir, err := os.MkdirTemp("", "assay-bench-insert-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	into, err := sql.Open("sqlite", filepath.Join(dir, "ledger.db")+"?_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)")
	if err != nil {
		return err
	}
	defer into.Close()
	into.SetMaxOpenConns(1)
	ddl, err :=
		from.Query(`SELECT sql FROM sqlite_master WHERE tbl_name IN ('attempts', 'outcomes') AND sql IS NOT NULL ORDER BY type = 'index'`)
	if err != nil {
		return err
	}
	defer ddl.Close()
	for ddl.Next() {
		var text string
		if err := ddl.Scan(&text); err != nil {
			return err
		}
		if _, err := into.Exec(text); err != nil {
			return err
		}
	}
	var wall, cpu time.Duration
	for _, table := range []string{"attempts", "outcomes"} {
		w, c, err := insertAll(from, into, table)
		if err != nil {
			return fmt.Errorf("%s: %w", table, err)
		}
		wall, cpu = wall+w, cpu+c
	}
	_, err = fmt.Println(int64(wall), int64(cpu))
	return err
}

// insertAll copies a table; only the insertion is timed.
func insertAll(from, into *sql.DB, table string) (wall, cpu time.Duration, err error) {
	rows, err := from.Query(`SELECT * FROM ` + table)
	if err != nil {
		return 0, 0, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return 0, 0, err
	}
	most := 32_000 / len(columns) // variables of a statement
	one := "(" + strings.TrimSuffix(strings.Repeat("?,", len(columns)), ",") + ")"
	var block []any
	flush := func() error {
		if len(block) == 0 {
			return nil
		}
		text := `INSERT INTO ` + table + ` VALUES ` + strings.TrimSuffix(strings.Repeat(one+",", len(block)/len(columns)), ",")
		start, used := time.Now(), usedCPU()
		_, err := into.Exec(text, block...)
		wall, cpu = wall+time.Since(start), cpu+usedCPU()-used
		block = block[:0]
		return err
	}
	for rows.Next() {
		values, places := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			places[i] = &values[i]
		}
		if err := rows.Scan(places...); err != nil {
			return wall, cpu, err
		}
		if block = append(block, values...); len(block) >= most*len(columns) {
			if err := flush(); err != nil {
				return wall, cpu, err
			}
		}
	}
	return wall, cpu, errors.Join(rows.Err(), flush())
}

// usedCPU returns the CPU time of this process so far.
func usedCPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
