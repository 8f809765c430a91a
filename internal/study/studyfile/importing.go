package studyfile

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/study"
	"assay/internal/study/decode"
	"assay/internal/study/expr"
	"assay/internal/study/inputs"
)

// askedRows means that the rows are all that was asked.
const askedRows = "rows"

// importStages finds the shape of every import stage in its rows. What is given was read before.
func (r *reader) importStages(given map[string]study.Imported) {
	for i := range r.study.Stages {
		st := &r.study.Stages[i]
		if st.Import == nil || st.Import.File == "" {
			continue
		}
		st.Import.Keep = r.compile(st.Import.Filter, expr.Rows)
		if seen, ok := given[st.Name]; ok {
			st.Taken = &seen
		} else {
			st.Taken = r.scan(st)
		}
		r.shape(st)
	}
}

// scan reads an import's file once.
func (r *reader) scan(st *study.Stage) *study.Imported {
	m, name := st.Import, study.ImportRows(st.Name)
	source := inputs.Open(r.fsys, map[string]inputs.Spec{name: m.Spec(st.Name)})
	seen := &study.Imported{Draws: 1}
	if !r.importColumns(source, st) {
		return seen
	}
	var asked study.Questions
	var line []byte
	digest := sha256.New()
	for it, err := range source.Items(context.Background(), name) {
		var row study.ImportedRow
		if err == nil {
			row, err = m.Row(it)
		}
		if err == nil {
			it.Place = assay.Place{}
			line, err = inputs.Encode(line[:0], it)
			digest.Write(line)
		}
		if err != nil {
			r.scanProblem(m.At, err)
			return seen
		}
		seen.Add(&row)
		if m.Asked != "" {
			asked.Add(st.Name, &row)
		}
	}
	seen.Digest = hex.EncodeToString(digest.Sum(nil))
	switch m.Asked {
	case "":
	case askedRows:
		seen.Asked = asked.Packed()
	default:
		r.found.Add(m.Key("asked"), "`asked: rows`, or nothing", "%s is not what was asked", decode.Quote(m.Asked))
	}
	if seen.Rows == 0 {
		r.found.Add(m.Key("file"), "", "stage %s: %s has no rows to import", st.Name, m.File)
	}
	return seen
}

// importColumns adds a problem for every field that the import names and the file surely lacks.
func (r *reader) importColumns(source *inputs.Source, st *study.Stage) bool {
	fields, open, problems := source.Fields(study.ImportRows(st.Name))
	r.found = append(r.found, problems...)
	if open || len(problems) > 0 {
		return len(problems) == 0
	}
	ok := true
	for _, c := range st.Import.Columns() {
		top, _, _ := strings.Cut(c.Field, ".")
		if slices.Contains(fields, c.Field) || slices.Contains(fields, top) || !c.Needed && !c.Written {
			continue
		}
		ok = false
		hint := cmp.Or(assay.DidYouMean(c.Field, fields), "it has "+strings.Join(fields[:min(len(fields), 12)], ", "))
		r.found.Add(st.Import.Key(c.Key), hint, "%s has no field %s, which `%s` names", st.Import.File, decode.Quote(c.Field), c.Key)
	}
	return ok
}

func (r *reader) scanProblem(at assay.Place, err error) {
	if problems, ok := err.(assay.Problems); ok {
		r.found = append(r.found, problems...)
		return
	}
	r.found.Add(at, "", "%s", err)
}

// shape gives an import stage the lanes its rows name and, where it does not name what was asked, turns to match its
// rows.
func (r *reader) shape(st *study.Stage) {
	seen := st.Taken
	for _, l := range seen.Lanes {
		if _, declared := r.study.Lane(l.Name); declared || r.study.Undeclared(l.Name) != nil {
			continue
		}
		lane := study.Lane{Group: l.Name, Where: decode.Where{At: st.Import.At}}
		lane.Name, lane.Model = l.Name, l.Model
		r.study.Elsewhere = append(r.study.Elsewhere, lane)
	}
	if !st.Has("repeats") {
		st.Repeats.N = seen.Draws
	}
	if st.Has("prompt") || st.Has("turns") {
		return
	}
	st.Guessed = true
	if len(seen.Templates) > 1 && len(seen.Branches) < 2 {
		for _, name := range seen.Templates {
			st.Prompt = append(st.Prompt, study.Named{Name: name})
		}
		return
	}
	if len(seen.Templates) > 1 || len(seen.Templates) == 1 && seen.Templates[0] != "" {
		if len(seen.Branches) > 1 {
			r.found.Add(st.Import.At, "`where:` can keep one of them, or map `template:` to a field that is empty",
				"stage %s: conversations of several turns cannot have templates too", st.Name)
			return
		}
		st.Prompt = study.Prompts{{Name: seen.Templates[0]}}
		return
	}
	for turn := range seen.Branches {
		names := begun(seen.Branches, turn)
		if seen.Controls > 0 && st.Control == nil && slices.ContainsFunc(names, isControl) {
			st.Control = &study.Control{On: true, Draws: (seen.Controls + seen.Draws - 1) / seen.Draws}
			seen.Goes = seen.Goes || turn == 0
		}
		names = slices.DeleteFunc(names, isControl)
		st.Turns = append(st.Turns, study.Turn{Where: decode.Where{At: st.Import.At}, Branches: names})
	}
}

func isControl(n study.Named) bool { return n.Name == "control" }

// begun returns the branches that begin at a turn: the last parts of those that are one longer than before.
func begun(branches [][]string, turn int) []study.Named {
	before := 0
	if turn > 0 {
		before = depth(branches[turn-1])
	}
	var out []study.Named
	for _, b := range branches[turn] {
		parts := strings.Split(b, "/")
		if len(parts) != before+1 {
			continue
		}
		name, err := url.PathUnescape(parts[len(parts)-1])
		if err != nil {
			name = parts[len(parts)-1]
		}
		if !slices.ContainsFunc(out, func(n study.Named) bool { return n.Name == name }) {
			out = append(out, study.Named{Name: name})
		}
	}
	return out
}

// depth returns how many branches a conversation has taken at most.
func depth(branches []string) int {
	most := 0
	for _, b := range branches {
		most = max(most, strings.Count(b, "/")+1)
	}
	return most
}
