package cli_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// digits wants the findings of one analysis to be among those of another, to the last digits: digits [-but TEXT...] WAS.json
// NOW.json [NEW=OLD...]. Stages may have other names; judges of imported verdicts are called imported:NAME. A finding whose
// name holds one of the texts need not come back.
func digits(ts *testscript.TestScript, neg bool, args []string) {
	var but []string
	for len(args) > 1 && args[0] == "-but" {
		but, args = append(but, args[1]), args[2:]
	}
	if neg || len(args) < 2 {
		ts.Fatalf("usage: digits [-but TEXT...] WAS NOW [NEW=OLD...]")
	}
	renamed := map[string]string{}
	for _, pair := range args[2:] {
		now, was, _ := strings.Cut(pair, "=")
		renamed[now] = was
	}
	was, now := findings(ts, args[0], nil), findings(ts, args[1], renamed)
	if len(was) == 0 {
		ts.Fatalf("%s has no findings", args[0])
	}
	for _, name := range slices.Sorted(maps.Keys(was)) {
		if slices.ContainsFunc(but, func(text string) bool { return strings.Contains(name, text) }) {
			continue
		}
		got, ok := now[name]
		if !ok {
			ts.Fatalf("%s is not in %s; there is\n%s", name, args[1], strings.Join(slices.Sorted(maps.Keys(now)), "\n"))
		}
		for i, x := range was[name] {
			if y := got[i]; (x == nil) != (y == nil) || x != nil && math.Abs(*x-*y) > 1e-12 {
				ts.Fatalf("%s: number %d differs", name, i+1)
			}
		}
	}
}

func findings(ts *testscript.TestScript, file string, renamed map[string]string) map[string][]*float64 {
	var doc struct {
		Runs []struct {
			Tables []struct {
				Stage, Title string
				Findings     []struct {
					What             string
					By               map[string]string
					Value, Low, High *float64
					N, Clusters      float64
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(ts.ReadFile(file)), &doc); err != nil {
		ts.Fatalf("%s: %v", file, err)
	}
	out := map[string][]*float64{}
	for _, run := range doc.Runs {
		for _, t := range run.Tables {
			if was, ok := renamed[t.Stage]; ok {
				t.Stage = was
			}
			for _, f := range t.Findings {
				by, err := json.Marshal(f.By)
				if err != nil {
					ts.Fatalf("%v", err)
				}
				name := fmt.Sprintf("%s, %s: %s of %s", t.Stage, t.Title, f.What, strings.ReplaceAll(string(by), "imported:", ""))
				out[name] = []*float64{f.Value, f.Low, f.High, &f.N, &f.Clusters}
			}
		}
	}
	return out
}

// texts wants two lists of results to hold the same answers: texts WAS NOW.
func texts(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: texts WAS NOW")
	}
	read := func(file string) map[string]string {
		out := map[string]string{}
		in := bufio.NewScanner(strings.NewReader(ts.ReadFile(file)))
		in.Buffer(nil, 1<<20)
		for in.Scan() {
			var a struct{ Key, Text, Thoughts string }
			if err := json.Unmarshal(in.Bytes(), &a); err != nil {
				ts.Fatalf("%s: %v", file, err)
			}
			out[a.Key] = a.Text + "\x00" + a.Thoughts
		}
		return out
	}
	if was, now := read(args[0]), read(args[1]); len(was) == 0 || !maps.Equal(was, now) {
		ts.Fatalf("the answers differ: %v, %v", was, now)
	}
}
