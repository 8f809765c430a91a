package main

import (
	"bufio"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"assay/internal/find/stats"
)

const (
	rankRows  = 10_000_000
	rankItems = 100
)

// rankBench holds `assay rank` against encoding/csv cutting the same file into fields, and counting against copying memory.
func rankBench(ctx context.Context, b *bench) error {
	file := filepath.Join(b.dir, "votes.csv")
	if err := writeVotes(file, rankRows); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	floor, err := measure(ctx, 3, self, "floor-of-rank", file)
	if err != nil {
		return err
	}
	got, err := measure(ctx, 3, b.assay, "rank", file)
	if err != nil {
		return err
	}
	fmt.Printf("encoding/csv   %s\n", floor)
	fmt.Printf("assay rank     %s\n", got)
	fmt.Printf("ratio          %.2f of wall time, %.2f of CPU time (at most 1.5)\n",
		got.wall.Seconds()/floor.wall.Seconds(), got.cpu.Seconds()/floor.cpu.Seconds())
	return countBench()
}

// writeVotes writes comparisons of items whose strengths lie evenly apart, one tie in ten.
func writeVotes(name string, rows int) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	w.WriteString("a,b,winner\n")
	var line []byte
	randomVotes(rows, func(first, second uint16, r stats.Result) {
		line = strconv.AppendUint(append(line[:0], "model-"...), uint64(first), 10)
		line = strconv.AppendUint(append(line, ",model-"...), uint64(second), 10)
		line = append(line, [...]string{stats.FirstWon: ",a\n", stats.SecondWon: ",b\n", stats.Tied: ",tie\n"}[r]...)
		w.Write(line)
	})
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

// randomVotes keeps nothing: the peak of a child process begins at that of its parent.
func randomVotes(rows int, vote func(first, second uint16, r stats.Result)) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range rows {
		i := rng.IntN(rankItems)
		j := (i + 1 + rng.IntN(rankItems-1)) % rankItems
		r := stats.Tied
		if u := rng.Float64(); u < 0.9 {
			r = stats.SecondWon
			if u < 0.9*(0.5+0.4*float64(i-j)/rankItems) {
				r = stats.FirstWon
			}
		}
		vote(uint16(i), uint16(j), r)
	}
}

// rankFloor cuts a file into fields, to nowhere.
func rankFloor(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	r := csv.NewReader(bufio.NewReaderSize(f, 1<<20))
	r.ReuseRecord = true
	for {
		if _, err := r.Read(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// countBench counts comparisons that are columns already, beside a copy of the same bytes.
func countBench() error {
	var p stats.Pairs
	randomVotes(rankRows, p.Append)
	bytes := float64(5 * p.Len())
	into := stats.Pairs{First: make([]uint16, p.Len()), Second: make([]uint16, p.Len()), Result: make([]stats.Result, p.Len())}
	var counting, copying time.Duration
	for k := range 5 {
		start := time.Now()
		if err := stats.NewTally(rankItems).Add(p); err != nil {
			return err
		}
		counted := time.Since(start)
		start = time.Now()
		copy(into.First, p.First)
		copy(into.Second, p.Second)
		copy(into.Result, p.Result)
		copied := time.Since(start)
		if k == 0 || counted < counting {
			counting = counted
		}
		if k == 0 || copied < copying {
			copying = copied
		}
	}
	fmt.Printf("counting       %d ms for %d rows in columns, %.1f GB/s; copying them %d ms, %.1f GB/s\n",
		counting.Milliseconds(), p.Len(), bytes/counting.Seconds()/1e9, copying.Milliseconds(), bytes/copying.Seconds()/1e9)
	return nil
}
