package recount

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Printed is what a run's findings are printed as; empty: not there.
type Printed struct {
	CSV      string // analyse --csv
	Export   string // findings.jsonl of export
	API      string // /api/runs/RUN/findings
	Terminal string // analyse --full
	Report   string // report, in HTML
	Page     string // /runs/RUN/findings, in HTML
}

// CheckPrinted holds everything that is printed of a run against what `analyse --json` claims: the same findings, each with the
// same number, to the last digit where a program reads it, and rounded where a person does.
func CheckPrinted(r *Run, p Printed) Result {
	c := &checker{Run: r, Result: NewResult()}
	want := flat(&r.Claims)
	for _, x := range []struct {
		name, text string
		read       func(string) ([]flatFinding, error)
	}{{"CSV", p.CSV, flatCSV}, {"export", p.Export, flatExport}, {"API", p.API, flatAPI}} {
		if x.text == "" {
			continue
		}
		got, err := x.read(x.text)
		if err != nil {
			c.differ(x.name, "a list of findings", err.Error())
			continue
		}
		c.alikeFlat(x.name, want, got)
	}
	if p.Terminal != "" {
		c.shown("terminal", terminalTables(&r.Claims, p.Terminal))
	}
	for name, text := range map[string]string{"report": p.Report, "page": p.Page} {
		if text == "" {
			continue
		}
		tables := htmlTables(text)
		c.shown(name, tables)
		c.board(name, tables)
	}
	return c.Result
}

// flatFinding is a finding with what it is called everywhere.
type flatFinding struct {
	name    string // stage, title, whose, and what it is
	numbers map[string]*float64
}

func flat(claims *Claims) (out []flatFinding) {
	for _, t := range claims.Tables {
		for _, f := range t.Findings {
			one := flatFinding{flatName(t.Stage, t.Title, t.Method, f.about(), f.What), map[string]*float64{
				"value": f.Value, "se": f.SE, "low": f.Low, "high": f.High, "level": some(f.Level), "n": some(float64(f.N)),
				"clusters": some(float64(f.Clusters)), "coverage": f.Coverage.Share, "p": f.P, "p_holm": f.Holm,
			}}
			if f.Rank != nil {
				one.numbers["rank"] = some(float64(f.Rank.Rank))
			}
			if f.Record != nil {
				one.numbers["wins"], one.numbers["ties"] = some(float64(f.Record.Wins)), some(float64(f.Record.Ties))
				one.numbers["losses"] = some(float64(f.Record.Losses))
			}
			out = append(out, one)
		}
	}
	return out
}

func flatName(parts ...string) string { return strings.Join(parts, " | ") }

// flatParts are the numbers of a finding that programs read.
var flatParts = []string{"value", "se", "low", "high", "level", "n", "clusters", "coverage", "p", "p_holm", "rank", "wins", "ties",
	"losses"}

func flatCSV(text string) ([]flatFinding, error) {
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(rows) == 0 {
		return nil, fmt.Errorf("no table: %w", err)
	}
	var out []flatFinding
	for _, row := range rows[1:] {
		at := map[string]string{}
		for i, head := range rows[0] {
			if _, twice := at[head]; !twice {
				at[head] = row[i]
			}
		}
		one := flatFinding{flatName(at["stage"], at["title"], at["method"], at["about"], at["what"]), map[string]*float64{}}
		for _, part := range flatParts {
			if at[part] == "" {
				continue
			}
			x, err := strconv.ParseFloat(at[part], 64)
			if err != nil {
				return nil, fmt.Errorf("%s of %s: %w", part, one.name, err)
			}
			one.numbers[part] = &x
		}
		out = append(out, one)
	}
	return out, nil
}

func flatExport(text string) ([]flatFinding, error) {
	rows, err := ReadRows[map[string]any](strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	var out []flatFinding
	for _, row := range rows {
		f := Finding{By: map[string]string{}}
		fields, _ := row["by"].(map[string]any)
		for name, value := range fields {
			f.By[name] = fmt.Sprint(value)
		}
		one := flatFinding{flatName(fmt.Sprint(row["stage"]), fmt.Sprint(row["title"]), fmt.Sprint(row["method"]), f.about(),
			fmt.Sprint(row["what"])), map[string]*float64{}}
		for _, part := range flatParts {
			if x, ok := row[part].(float64); ok {
				one.numbers[part] = &x
			}
		}
		out = append(out, one)
	}
	return out, nil
}

func flatAPI(text string) ([]flatFinding, error) {
	var claims Claims
	if err := json.Unmarshal([]byte(text), &claims); err != nil {
		return nil, err
	}
	return flat(&claims), nil
}

// alikeFlat compares findings to the last digit.
func (c *checker) alikeFlat(where string, want, got []flatFinding) {
	c.table, c.about = nil, where
	c.count(where+": findings", "findings", len(want), len(got))
	for i := range min(len(want), len(got)) {
		c.about = where + ": " + want[i].name
		c.text(where+": findings", "name", want[i].name, got[i].name)
		for _, part := range flatParts {
			x, y := want[i].numbers[part], got[i].numbers[part]
			if x == nil && y == nil {
				continue
			}
			c.Compared[where+": "+part]++
			if x == nil || y == nil || math.Abs(*x-*y) > 1e-12*max(1, math.Abs(*x)) {
				c.differ(part, shownNumber(x), shownNumber(y))
			}
		}
	}
}

func shownNumber(x *float64) string {
	if x == nil {
		return "none"
	}
	return fmt.Sprint(*x)
}

// rounded reports whether a text is a number, rounded to the digits that the text has: 16.7%, +83.3 pt, 0.0078, 3.4e-16.
func rounded(text string, x *float64) bool {
	text = strings.TrimSpace(strings.ReplaceAll(text, ",", ""))
	if none := text == "" || text == "–" || text == "unknown"; x == nil || none {
		return x == nil && none
	}
	value := *x
	for _, unit := range []string{"%", " pt"} {
		if rest, ok := strings.CutSuffix(text, unit); ok {
			text, value = rest, 100*value
		}
	}
	got, err := strconv.ParseFloat(strings.TrimPrefix(text, "$"), 64)
	if err != nil {
		return false
	}
	mantissa, exponent, _ := strings.Cut(text, "e")
	digits := 0
	if _, behind, ok := strings.Cut(mantissa, "."); ok {
		digits = len(behind)
	}
	power := 0
	if exponent != "" {
		if power, err = strconv.Atoi(exponent); err != nil {
			return false
		}
	}
	return math.Abs(got-value) <= 0.5000001*math.Pow(10, float64(power-digits))
}
