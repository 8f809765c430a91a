package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"assay/test/bench/child"
)

// exportRows is how many answers the ledger holds. Two sizes are measured, so that memory that grows with them shows.
const exportRows = 100_000

// exportBench holds writing all answers of a ledger as JSON lines, CSV and parquet against encoding/json reading and writing
// the same lines.
func exportBench(ctx context.Context, b *bench) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	few := map[string]int64{} // peak memory of a tenth, by form
	for _, n := range []int{b.size(exportRows) / 10, b.size(exportRows)} {
		dir := filepath.Join(b.dir, fmt.Sprintf("export-%d", n))
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
		table, home := filepath.Join(dir, "answers.jsonl"), filepath.Join(dir, "home")
		if err := writeAnswers(table, n); err != nil {
			return err
		}
		if _, err := child.Measure(ctx, 1, b.assay, "import", "--format", "jsonl", table, "--out", filepath.Join(dir, "study"), "--home",
			home); err != nil {
			return err
		}
		lines := filepath.Join(dir, "out.jsonl")
		for _, form := range []string{"jsonl", "csv", "parquet"} {
			got, err := child.Measure(ctx, 1, b.assay, "export", "--home", home, "--format", form, "--out", filepath.Join(dir, "out."+form),
				"--replace")
			if err != nil {
				return err
			}
			floor, err := child.Measure(ctx, 1, self, "floor-of-export", lines)
			if err != nil {
				return err
			}
			fmt.Printf("%8d rows, %-7s  %s\nencoding/json           %s\nratio                   %.2f of wall time, %.2f of CPU\n",
				n, form, got, floor, got.Wall.Seconds()/floor.Wall.Seconds(), got.CPU.Seconds()/floor.CPU.Seconds())
			if less, ok := few[form]; ok {
				fmt.Printf("memory                  %d MB peak, %.2f of that of a tenth\n", got.Peak>>20, float64(got.Peak)/float64(less))
			}
			few[form] = got.Peak
		}
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return nil
}

// writeAnswers writes a table of answers of about a kilobyte each.
func writeAnswers(name string, n int) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	out := json.NewEncoder(w)
	text := strings.Repeat("The river \"runs\" past the stone mill, and nobody measures it twice; naïve café 🙂.\n", 11)
	for i := range n {
		if err := out.Encode(map[string]any{"item": fmt.Sprintf("q%d", i/4), "lane": fmt.Sprintf("lane%d", i%4),
			"text": text + fmt.Sprint(i)}); err != nil {
			return err
		}
	}
	return errors.Join(w.Flush(), f.Close())
}

// exportFloor reads every line and writes it again.
func exportFloor(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(io.Discard, 1<<20)
	in, out := json.NewDecoder(bufio.NewReaderSize(f, 1<<20)), json.NewEncoder(w)
	for {
		var row map[string]any
		if err := in.Decode(&row); errors.Is(err, io.EOF) {
			return w.Flush()
		} else if err != nil {
			return err
		}
		if err := out.Encode(row); err != nil {
			return err
		}
	}
}
