// Command bench measures speed and memory of whole commands as ratios against floors measured in the same run; machines are noisy, ratios
// less so. What one package does is measured by its own benchmarks (go test -bench), by test/ratiotest.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"

	"assay/test/bench/child"
)

// benchmark is one measurement; adding one is one file and one line in benchmarks.
type benchmark struct {
	name, what string
	run        func(ctx context.Context, b *bench) error
}

func benchmarks() []benchmark {
	return []benchmark{
		{"plan", "assay plan of 1,000,000 requests against rendering and encoding them to nowhere", planBench},
		{"run", "a run of 1,000,000 requests end to end against encoding, copying, parsing and inserting the same bytes", runBench},
		{"killed", "a run of 1,000,000 requests, killed at six tenths and resumed: CPU, peaks, bytes, bill, reading", killedBench},
		{"memory", "the peak of a run of 10,000 requests, through batch jobs and live, below 90 MB", memoryBench},
		{"media", "10,000 items (-n) with a picture of 1 MB each: seconds of a plan per GB, the peak of a run below 200 MB, " +
			"copies on the disk",
			mediaBench},
		{"idle", "waiting ten minutes for 10,000 open jobs", idleBench},
		{"settle", "buying comparisons round by round, in 2,000 simulated studies a setting: false claims, intervals that hold, " +
			"savings, quotes", settleBench},
		{"coverage", "intervals that hold and claims that are false, by design, in simulated studies", coverageBench},
		{"validate", "what people's labels correct, in 10,000 simulated studies (-n) of each of 29 settings: intervals that hold, " +
			"false claims", validateBench},
		{"labels", "200 studies (-n) whose judge favours a lane, imported, with 60 labels from a file: false claims", labelsBench},
		{"trend", "whose changes between runs are called, in 400 simulated histories (-n) of each of 14 settings: judge or model",
			trendBench},
		{"view", "every page of the dashboard on a ledger of 1,000,000 requests, below 300 ms", viewBench},
		{"live", "live requests against what a bare loop and 64 requests in flight can do", liveBench},
		{"export", "assay export of 100,000 answers against encoding/json reading and writing the same lines", exportBench},
		{"analyse", "assay analyse of 1,000,000 verdicts against reading the same rows", analyseBench},
		{"workers", "1, 2 and 4 workers on one PostgreSQL and one bucket, 1,000,000 requests in batches and 200,000 live; 10,000 open jobs",
			workersBench},
		{"estimates", "estimate, reserve and bill of all examples and of 200 generated studies (-n), with their ratios", estimatesBench},
		{"batch", "assay batch: a plain file of 100 MB (-n: so many MB) checked, sent, brought back and written in order", batchBench},
	}
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 2 { // floors run in a process of their own, like what they are held against
		switch args[0] {
		case "floor-of-plan":
			return planFloor(args[1])
		case "floor-of-export":
			return exportFloor(args[1])
		case "floor-of-analyse":
			return analyseFloor(args[1])
		case "floor-of-run-insert":
			return runInsert(args[1])
		case "floor-of-batch":
			return batchFloor(args[1])
		case "serve-of-batch":
			return batchServe(args[1])
		case "serve-of-fetch":
			return fetchServe(args[1])
		case "floor-of-fetch-parse":
			return fetchParse(args[1])
		case "floor-of-fetch-copy":
			return fetchCopy(args[1])
		case "floor-of-live":
			return liveFloor(args[1])
		case "work-of-workers":
			return workOfWorkers(args[1])
		case "run-of-workers":
			return runOfWorkers(args[1])
		}
	}
	dir, err := os.MkdirTemp("", "assay-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &bench{dir: dir}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.IntVar(&b.n, "n", 0, "how much, where a benchmark has a size; 0: its own")
	flags.IntVar(&b.lanes, "lanes", 10, "of view: lanes, so that the grid has -n divided by this many rows")
	flags.Uint64Var(&b.seed, "seed", 20261118, "of coverage, validate, labels and trend: another seed, other studies")
	flags.StringVar(&b.design, "design", "", "of coverage, validate and workers: only designs, or parts, whose name contains this")
	flags.StringVar(&b.write, "write", "", "of coverage and validate: write the table as a page to this file")
	if err := flags.Parse(args); err != nil {
		return err
	}
	args = flags.Args()
	if b.assay, err = child.Build(dir); err != nil {
		return err
	}
	for _, one := range benchmarks() {
		if len(args) > 0 && args[0] != one.name {
			continue
		}
		fmt.Printf("== %s: %s\n", one.name, one.what)
		if b.n > 0 {
			fmt.Printf("now of %d\n", b.n)
		}
		if err := one.run(context.Background(), b); err != nil {
			return fmt.Errorf("%s: %w", one.name, err)
		}
	}
	return nil
}

// bench is the state that the measurements share.
type bench struct {
	dir   string // thrown away at the end
	assay string // the built binary
	n     int    // how much was asked for; 0: nothing
	lanes int    // of view
	seed  uint64 // of simulated studies
	write string // of coverage and validate: the page to write; empty: none

	design string // of coverage and validate: what the names of designs contain; empty: all
}

// size returns how much to measure: what was asked for, or the benchmark's own.
func (b *bench) size(own int) int { return cmp.Or(b.n, own) }
