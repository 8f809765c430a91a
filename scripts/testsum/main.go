// Command testsum reads what go test -json prints and shows what a person needs of it: a line for every package, all that a
// failed test printed, and at the end how many tests ran, which were slow and which were skipped.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

// event is one line of go test -json.
type event struct {
	Action, Package, Test, Output string
	ImportPath                    string // of output while a package is built
	Elapsed                       float64
}

func main() {
	if err := sum(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "testsum:", err)
		os.Exit(1)
	}
}

// test is one test that has not ended, or one that was slow.
type test struct {
	name    string
	said    strings.Builder
	seconds float64
}

func sum(in io.Reader, out io.Writer) error {
	open := map[string]*test{}
	var slow []*test
	counts := map[string]int{}
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		var e event
		if json.Unmarshal([]byte(line), &e) != nil {
			fmt.Fprint(out, line) // of the go command itself
		} else if t := take(open, e); t != nil {
			counts[e.Action]++
			if e.Action == "fail" {
				fmt.Fprint(out, t.said.String())
			}
			if !strings.Contains(e.Test, "/") {
				slow = append(slow, t)
			}
		} else if e.Action == "build-output" || e.Action == "output" && e.Test == "" && !noise(e.Output) {
			fmt.Fprint(out, e.Output)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(open)) { // their process died
		fmt.Fprintf(out, "%s%s did not end\n", open[name].said.String(), name)
	}
	slices.SortFunc(slow, func(a, b *test) int { return cmp.Compare(b.seconds, a.seconds) })
	for _, t := range slow[:min(5, len(slow))] {
		fmt.Fprintf(out, "%6.1f s  %s\n", t.seconds, t.name)
	}
	failed := counts["fail"] + len(open)
	_, err := fmt.Fprintf(out, "%d tests ran: %d passed, %d failed; %d skipped\n", counts["pass"]+failed, counts["pass"], failed,
		counts["skip"])
	return err
}

// take notes what a test did. It returns the test where that is its end.
func take(open map[string]*test, e event) *test {
	if e.Test == "" {
		return nil
	}
	name := e.Package + " " + e.Test
	t := open[name]
	if t == nil {
		t = &test{name: name}
		open[name] = t
	}
	switch e.Action {
	case "output":
		t.said.WriteString(e.Output)
	case "pass", "fail", "skip":
		t.seconds = e.Elapsed
		delete(open, name)
		return t
	}
	return nil
}

// noise reports whether a line adds nothing to the line of its package.
func noise(line string) bool {
	return line == "PASS\n" || line == "FAIL\n" || strings.HasPrefix(line, "=== ")
}
