package plan

import (
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"net/url"
	"slices"

	"assay/internal/assay"
	"assay/internal/study"
)

// Import is what a file brings to one lane of an import stage.
type Import struct {
	Stage    string
	Lane     *study.Lane
	Expected int64 // questions that were asked
	Found    int64 // answers to them
}

// Arrival is an answer that was made elsewhere, with its place in the study.
type Arrival struct {
	At assay.Coordinates
	study.ImportedRow
}

// Incoming takes the rows of an import stage in: each answer is held against the questions of the stage.
type Incoming struct {
	Lanes []*study.Lane

	talk       *Talk
	rows       iter.Seq2[assay.Item, error]
	items      iter.Seq2[assay.Item, error]
	index      []uint64            // hashes of all questions, sorted
	turns      []int64             // questions by turn
	expected   map[string]int64    // questions by lane
	count      int64               // items
	have       map[string][]uint64 // by lane: which questions have an answer, as bits
	unknown    int64               // rows that answer none of the questions
	unanswered int64               // rows that are no answers
	twice      int64               // rows that answer what another one answered
	such       map[string]string   // an example of each
}

// Incoming prepares to take in the answers of an import stage, to the questions about the first so many items (0: all).
// It holds 8 bytes a question.
func (d *Input) Incoming(ctx context.Context, st *study.Stage, lanes []*study.Lane, limit int) (*Incoming, error) {
	talk, err := d.Talk(ctx, st)
	if err != nil {
		return nil, err
	}
	in := &Incoming{
		Lanes: lanes, talk: talk, rows: d.Rows.Items(ctx, study.ImportRows(st.Name)), items: d.FirstItems(ctx, st.Import.Of, limit),
		turns: make([]int64, len(talk.Steps)), have: map[string][]uint64{}, such: map[string]string{}, expected: map[string]int64{},
	}
	for it, err := range in.items {
		if err != nil {
			return nil, err
		}
		in.count++
		for k := range talk.Steps {
			for _, w := range talk.AllWays(k, it) {
				if in.asked(k, it.ID, w) {
					in.turns[k]++
					in.index = append(in.index, hashOf(talk.At(k, "", it.ID, w)))
				}
			}
		}
	}
	slices.Sort(in.index)
	for _, l := range lanes {
		in.have[l.Name] = make([]uint64, (len(in.index)+63)/64)
	}
	return in, nil
}

// asked counts a question for every lane that was asked; it reports whether one was.
func (in *Incoming) asked(k int, item string, w Way) bool {
	some := len(in.Lanes) == 0
	for _, l := range in.Lanes {
		if in.talk.Stage.Taken.Has(in.talk.At(k, l.Name, item, w)) {
			in.expected[l.Name]++
			some = true
		}
	}
	return some
}

func hashOf(at assay.Coordinates) uint64 {
	key := at.Key()
	return binary.BigEndian.Uint64(key[:])
}

// Answers walks over the rows that answer a question of the stage, in the order of the file, each question once. What is
// left out is counted.
func (in *Incoming) Answers() iter.Seq2[Arrival, error] {
	return func(yield func(Arrival, error) bool) {
		for it, err := range in.rows {
			if err != nil {
				yield(Arrival{}, err)
				return
			}
			row, err := in.talk.Stage.Import.Row(it)
			if err != nil {
				yield(Arrival{}, err)
				return
			}
			at, ok := in.place(it, &row)
			if ok && !yield(Arrival{At: at, ImportedRow: row}, nil) {
				return
			}
		}
	}
}

// place is where an answer belongs; false where it belongs nowhere, or is none.
func (in *Incoming) place(it assay.Item, row *study.ImportedRow) (assay.Coordinates, bool) {
	bits, chosen := in.have[row.Lane]
	if !chosen {
		return assay.Coordinates{}, false
	}
	if !row.Outcome.Ending.Stands() {
		in.leave(&in.unanswered, "unanswered", it, row)
		return assay.Coordinates{}, false
	}
	at := assay.Coordinates{
		Stage: in.talk.Stage.Name, Item: row.Item, Template: row.Template, Turn: row.Turn, Branch: row.Branch, Draw: row.Draw,
	}
	i, ok := slices.BinarySearch(in.index, hashOf(at))
	if !ok { // a bare name that a coordinate writes otherwise
		at.Branch = url.PathEscape(row.Branch)
		if i, ok = slices.BinarySearch(in.index, hashOf(at)); !ok {
			in.leave(&in.unknown, "unknown", it, row)
			return at, false
		}
	}
	if bits[i/64]&(1<<(i%64)) != 0 {
		in.leave(&in.twice, "twice", it, row)
		return at, false
	}
	bits[i/64] |= 1 << (i % 64)
	at.Lane = row.Lane
	return at, true
}

func (in *Incoming) leave(n *int64, kind string, it assay.Item, row *study.ImportedRow) {
	if *n++; *n > 1 {
		return
	}
	text := fmt.Sprintf("item %q in lane %s", row.Item, row.Lane)
	if row.Turn > 1 || row.Branch != "" {
		text += fmt.Sprintf(", turn %d", row.Turn)
	}
	if row.Branch != "" {
		text += fmt.Sprintf(", branch %q", row.Branch)
	}
	in.such[kind] = text + " at " + it.Place.String()
}

// missing is the first question that a lane has no answer to.
func (in *Incoming) missing(lane string) (assay.Coordinates, error) {
	bits := in.have[lane]
	for it, err := range in.items {
		if err != nil {
			return assay.Coordinates{}, err
		}
		for k := range in.talk.Steps {
			for _, w := range in.talk.AllWays(k, it) {
				at := in.talk.At(k, "", it.ID, w)
				if !in.talk.Stage.Taken.Has(in.talk.At(k, lane, it.ID, w)) {
					continue
				}
				if i, _ := slices.BinarySearch(in.index, hashOf(at)); bits[i/64]&(1<<(i%64)) == 0 {
					return at, nil
				}
			}
		}
	}
	return assay.Coordinates{}, fmt.Errorf("lane %s has all answers", lane)
}

// importing counts what an import stage brings, and reports what does not fit.
func (m *maker) importing(ctx context.Context, st *study.Stage) {
	lanes := m.chosen(m.Study.Contestants(st))
	in, err := m.Incoming(ctx, st, lanes, m.options.Limit)
	if err != nil {
		m.fail(st.At, err)
		return
	}
	found := map[string]int64{}
	for a, err := range in.Answers() {
		if err != nil {
			m.fail(st.Import.At, err)
			return
		}
		found[a.Lane]++
	}
	m.plan.Items[st.Import.Of] = int(in.count)
	m.given[st.Name] = &answers{lanes: lanes, items: in.count, turns: in.turns, tokens: visibleTokens, gated: true, goes: st.GoesOn()}
	m.reportImport(st, in)
	for _, l := range lanes {
		i := Import{Stage: st.Name, Lane: l, Expected: in.expected[l.Name], Found: found[l.Name]}
		m.plan.Imports = append(m.plan.Imports, i)
		note := fmt.Sprintf("stage %s: lane %s brings %d of %s from %s", st.Name, l.Name, i.Found, plural(i.Expected, "answer"), st.Import.File)
		if i.Found < i.Expected {
			at, err := in.missing(l.Name)
			if err != nil {
				m.fail(st.Import.At, err)
				return
			}
			note += fmt.Sprintf("; item %q is missing", at.Item)
		}
		m.note("%s", note)
	}
}

// reportImport says which rows are left out.
func (m *maker) reportImport(st *study.Stage, in *Incoming) {
	at := st.Import.At
	if in.twice > 0 {
		m.problems.Add(at, "name the field in which they differ, such as `draw:`, `turn:` or `branch:`, or keep one with `where:`",
			"stage %s: %s what another one answers, such as %s", st.Name, rows(in.twice, "answers", "answer"), in.such["twice"])
	}
	if in.unknown > 0 && m.options.Limit == 0 {
		m.problems.Warn(at, "they are left out", "stage %s: %s nothing that was asked, such as %s", st.Name, rows(in.unknown, "answers", "answer"), in.such["unknown"])
	}
	if in.unanswered > 0 {
		m.problems.Warn(at, "they are left out", "stage %s: %s no answer, such as %s", st.Name, rows(in.unanswered, "is", "are"), in.such["unanswered"])
	}
}

func rows(n int64, one, many string) string {
	if n == 1 {
		return "1 row " + one
	}
	return plural(n, "row") + " " + many
}
