package study

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"net/url"
	"path"
	"slices"
	"sort"
	"strings"

	"assay/internal/assay"
	"assay/internal/study/decode"
	"assay/internal/study/expr"
	"assay/internal/study/inputs"
)

// Import describes where answers made elsewhere are. Every key but file, of and where names a field of the file; a
// field that is not named is looked for under the key's own name, which is how `assay export` writes it.
type Import struct {
	decode.Where
	File      string     `json:"file" jsonschema:"one row an answer: .csv .tsv .jsonl .json .parquet, or a folder of them"`
	Format    string     `json:"format,omitempty" jsonschema:"over the file's suffix"`
	Of        string     `json:"of" jsonschema:"the input whose items were asked"`
	Filter    Expression `json:"where,omitzero" jsonschema:"which rows, by their fields"`
	Asked     string     `json:"asked,omitempty" jsonschema:"rows: what has no row was not asked; without it every lane was asked everything that any row answers"`
	Item      string     `json:"item,omitempty" jsonschema:"the field with the item's id (item)"`
	Lane      string     `json:"lane,omitempty" jsonschema:"the field with the lane's name (lane)"`
	Text      string     `json:"text,omitempty" jsonschema:"the field with the answer (text)"`
	Thoughts  string     `json:"thoughts,omitempty" jsonschema:"the field with the model's thoughts (thoughts)"`
	Template  string     `json:"template,omitempty" jsonschema:"the field with the prompt's name (template)"`
	Turn      string     `json:"turn,omitempty" jsonschema:"the field with the number of the turn (turn); 1 where there is none"`
	Branch    string     `json:"branch,omitempty" jsonschema:"the field with the branch (branch)"`
	Draw      string     `json:"draw,omitempty" jsonschema:"the field with the number of the draw (draw); 1 where there is none"`
	Ending    string     `json:"ending,omitempty" jsonschema:"the field that says how it ended (ending); answered where there is none"`
	Finish    string     `json:"finish,omitempty" jsonschema:"the field with the provider's own word for it (finish)"`
	Model     string     `json:"model,omitempty" jsonschema:"the field with the model that answered (model)"`
	Input     string     `json:"input_tokens,omitempty" jsonschema:"the field with the input tokens (input_tokens)"`
	Output    string     `json:"output_tokens,omitempty" jsonschema:"the field with the output tokens (output_tokens)"`
	Reasoning string     `json:"reasoning_tokens,omitempty" jsonschema:"the field with the reasoning tokens (reasoning_tokens)"`
	Cost      string     `json:"cost_usd,omitempty" jsonschema:"the field with the cost in dollars (cost_usd); unknown where there is none"`

	Keep *expr.Program `json:"-"` // `where`, compiled
}

// Imported is the shape of an import stage, as found in its rows: a run remembers it, so that the file is read once.
type Imported struct {
	Lanes     []ImportedLane `json:"lanes"`
	Templates []string       `json:"templates,omitempty"`
	Branches  [][]string     `json:"branches,omitempty"` // by turn from 1: the branches that begin there
	Draws     int            `json:"draws"`              // the highest that is no control's
	Controls  int            `json:"controls,omitempty"` // the highest of a control; 0: there is none
	// the conversations were opened elsewhere: the rows mark it, or a control begins with the first turn
	Goes bool `json:"goes,omitempty"`
	// with `asked: rows`: hashes of all questions that have a row, sorted, 8 bytes each
	Asked  []byte `json:"asked,omitempty"`
	Rows   int64  `json:"rows"`
	Digest string `json:"digest,omitempty"` // of the rows
}

// Has reports whether a question was asked.
func (s *Imported) Has(at assay.Coordinates) bool {
	if s == nil || s.Asked == nil {
		return true
	}
	want := hashOf(at)
	i := sort.Search(len(s.Asked)/8, func(i int) bool { return binary.BigEndian.Uint64(s.Asked[8*i:]) >= want })
	return 8*i < len(s.Asked) && binary.BigEndian.Uint64(s.Asked[8*i:]) == want
}

func hashOf(at assay.Coordinates) uint64 {
	key := at.Key()
	return binary.BigEndian.Uint64(key[:])
}

// asks returns the hashes of what a row asks; a bare name of a branch may be written otherwise in a coordinate.
func (r *ImportedRow) asks(stage string) []uint64 {
	at := assay.Coordinates{Stage: stage, Item: r.Item, Lane: r.Lane, Template: r.Template, Turn: r.Turn, Branch: r.Branch, Draw: r.Draw}
	out := []uint64{hashOf(at)}
	if at.Branch = url.PathEscape(r.Branch); at.Branch != r.Branch {
		out = append(out, hashOf(at))
	}
	return out
}

// pack writes hashes in order, each once.
func pack(hashes []uint64) []byte {
	slices.Sort(hashes)
	out := make([]byte, 0, 8*len(hashes))
	for _, h := range slices.Compact(hashes) {
		out = binary.BigEndian.AppendUint64(out, h)
	}
	return out
}

// ImportedLane is a lane that rows name.
type ImportedLane struct {
	Name  string `json:"name"`
	Model string `json:"model,omitempty"` // as in the first row that has one
}

// askedRows means that the rows are all that was asked.
const askedRows = "rows"

// ImportRows returns the name under which package inputs knows the rows of an import stage. No input can be called so.
func ImportRows(stage string) string { return "import " + stage }

func (m *Import) spec(stage string) inputs.Spec {
	spec := inputs.Spec{Name: ImportRows(stage), At: m.At, File: m.File, Format: m.Format, ID: cmp.Or(m.Item, "item"), Repeated: true}
	if keep := m.Keep; keep != nil {
		spec.Where = func(it assay.Item) (bool, error) { return keep.Bool(expr.Vars{Item: &it}) }
	}
	return spec
}

// importStages finds the shape of every import stage in its rows. What is given was read before.
func (r *run) importStages(given map[string]Imported) {
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
func (r *run) scan(st *Stage) *Imported {
	m, name := st.Import, ImportRows(st.Name)
	source := inputs.Open(r.fsys, map[string]inputs.Spec{name: m.spec(st.Name)})
	seen := &Imported{Draws: 1}
	if !r.importColumns(source, st) {
		return seen
	}
	var asked []uint64
	var line []byte
	digest := sha256.New()
	for it, err := range source.Items(context.Background(), name) {
		var row ImportedRow
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
		seen.see(&row)
		if m.Asked != "" {
			asked = append(asked, row.asks(st.Name)...)
		}
	}
	seen.Digest = hex.EncodeToString(digest.Sum(nil))
	switch m.Asked {
	case "":
	case askedRows:
		seen.Asked = pack(asked)
	default:
		r.found.Add(m.Key("asked"), "`asked: rows`, or nothing", "%s is not what was asked", decode.Quote(m.Asked))
	}
	if seen.Rows == 0 {
		r.found.Add(m.Key("file"), "", "stage %s: %s has no rows to import", st.Name, m.File)
	}
	return seen
}

// importColumns adds a problem for every field that the import names and the file surely lacks.
func (r *run) importColumns(source *inputs.Source, st *Stage) bool {
	fields, open, problems := source.Fields(ImportRows(st.Name))
	r.found = append(r.found, problems...)
	if open || len(problems) > 0 {
		return len(problems) == 0
	}
	ok := true
	for _, c := range st.Import.columns() {
		top, _, _ := strings.Cut(c.field, ".")
		if slices.Contains(fields, c.field) || slices.Contains(fields, top) || !c.needed && !c.written {
			continue
		}
		ok = false
		hint := cmp.Or(assay.DidYouMean(c.field, fields), "it has "+strings.Join(fields[:min(len(fields), 12)], ", "))
		r.found.Add(st.Import.Key(c.key), hint, "%s has no field %s, which `%s` names", st.Import.File, decode.Quote(c.field), c.key)
	}
	return ok
}

func (r *run) scanProblem(at assay.Place, err error) {
	if problems, ok := err.(assay.Problems); ok {
		r.found = append(r.found, problems...)
		return
	}
	r.found.Add(at, "", "%s", err)
}

func (s *Imported) see(row *ImportedRow) {
	s.Rows++
	s.Goes = s.Goes || row.GoesOn
	i := slices.IndexFunc(s.Lanes, func(l ImportedLane) bool { return l.Name == row.Lane })
	if i < 0 {
		i = len(s.Lanes)
		s.Lanes = append(s.Lanes, ImportedLane{Name: row.Lane})
	}
	if s.Lanes[i].Model == "" {
		s.Lanes[i].Model = row.Outcome.Model
	}
	if !slices.Contains(s.Templates, row.Template) {
		s.Templates = append(s.Templates, row.Template)
	}
	if path.Base(row.Branch) == "control" {
		s.Controls = max(s.Controls, row.Draw)
	} else {
		s.Draws = max(s.Draws, row.Draw)
	}
	for len(s.Branches) < row.Turn {
		s.Branches = append(s.Branches, nil)
	}
	if row.Branch == "" {
		return
	}
	if here := &s.Branches[row.Turn-1]; !slices.Contains(*here, row.Branch) {
		*here = append(*here, row.Branch)
	}
}

// shape gives an import stage the lanes its rows name and, where it does not name what was asked, turns to match its
// rows.
func (r *run) shape(st *Stage) {
	seen := st.Taken
	for _, l := range seen.Lanes {
		if _, declared := r.study.Lane(l.Name); declared || r.study.elsewhere(l.Name) != nil {
			continue
		}
		lane := Lane{Group: l.Name, Where: decode.Where{At: st.Import.At}}
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
			st.Prompt = append(st.Prompt, Named{Name: name})
		}
		return
	}
	if len(seen.Templates) > 1 || len(seen.Templates) == 1 && seen.Templates[0] != "" {
		if len(seen.Branches) > 1 {
			r.found.Add(st.Import.At, "`where:` can keep one of them, or map `template:` to a field that is empty",
				"stage %s: conversations of several turns cannot have templates too", st.Name)
			return
		}
		st.Prompt = Prompts{{Name: seen.Templates[0]}}
		return
	}
	for turn := range seen.Branches {
		names := begun(seen.Branches, turn)
		if seen.Controls > 0 && st.Control == nil && slices.ContainsFunc(names, isControl) {
			st.Control = &Control{On: true, Draws: (seen.Controls + seen.Draws - 1) / seen.Draws}
			seen.Goes = seen.Goes || turn == 0
		}
		names = slices.DeleteFunc(names, isControl)
		st.Turns = append(st.Turns, Turn{Where: decode.Where{At: st.Import.At}, Branches: names})
	}
}

func isControl(n Named) bool { return n.Name == "control" }

// begun returns the branches that begin at a turn: the last parts of those that are one longer than before.
func begun(branches [][]string, turn int) []Named {
	before := 0
	if turn > 0 {
		before = depth(branches[turn-1])
	}
	var out []Named
	for _, b := range branches[turn] {
		parts := strings.Split(b, "/")
		if len(parts) != before+1 {
			continue
		}
		name, err := url.PathUnescape(parts[len(parts)-1])
		if err != nil {
			name = parts[len(parts)-1]
		}
		if !slices.ContainsFunc(out, func(n Named) bool { return n.Name == name }) {
			out = append(out, Named{Name: name})
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

// elsewhere returns the lane of a name whose answers are imported and which the study does not declare; nil where there
// is none.
func (s *Study) elsewhere(name string) *Lane {
	for i := range s.Elsewhere {
		if s.Elsewhere[i].Name == name {
			return &s.Elsewhere[i]
		}
	}
	return nil
}

// imported returns the lanes of an import stage, in the order of its rows.
func (s *Study) imported(st *Stage) []*Lane {
	if st.Taken == nil {
		return nil
	}
	var out []*Lane
	for _, l := range st.Taken.Lanes {
		if lane, ok := s.Lane(l.Name); ok {
			out = append(out, lane)
		} else if lane := s.elsewhere(l.Name); lane != nil {
			out = append(out, lane)
		}
	}
	return out
}
