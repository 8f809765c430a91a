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

// Import holds what a file brings to one lane of an import stage.
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

	talk       *Conversation
	rows       iter.Seq2[assay.Item, error]
	items      iter.Seq2[assay.Item, error]
	index      []uint64            // hashes of all questions, sorted
	Turns      []int64             // questions by turn
	Expected   map[string]int64    // questions by lane
	Count      int64               // items
	have       map[string][]uint64 // by lane: which questions have an answer, as bits
	Unknown    int64               // rows that answer none of the questions
	Unanswered int64               // rows that are no answers
	Twice      int64               // rows that answer what another one answered
	Such       map[string]string   // an example of each
}

// Incoming prepares to take in the answers of an import stage, to the questions about the first so many items (0: all).
// It holds 8 bytes a question.
func (d *Input) Incoming(ctx context.Context, st *study.Stage, lanes []*study.Lane, limit int) (*Incoming, error) {
	talk, err := d.Conversation(ctx, st)
	if err != nil {
		return nil, err
	}
	in := &Incoming{
		Lanes: lanes, talk: talk, rows: d.Rows.Items(ctx, study.ImportRows(st.Name)), items: d.FirstItems(ctx, st.Import.Of, limit),
		Turns: make([]int64, len(talk.Steps)), have: map[string][]uint64{}, Such: map[string]string{}, Expected: map[string]int64{},
	}
	for it, err := range in.items {
		if err != nil {
			return nil, err
		}
		in.Count++
		for k := range talk.Steps {
			for _, w := range talk.AllWays(k, it) {
				if in.asked(k, it.ID, w) {
					in.Turns[k]++
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
			in.Expected[l.Name]++
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

// place returns where an answer belongs; false where it belongs nowhere, or is none.
func (in *Incoming) place(it assay.Item, row *study.ImportedRow) (assay.Coordinates, bool) {
	bits, chosen := in.have[row.Lane]
	if !chosen {
		return assay.Coordinates{}, false
	}
	if !row.Outcome.Ending.Stands() {
		in.leave(&in.Unanswered, "unanswered", it, row)
		return assay.Coordinates{}, false
	}
	at := assay.Coordinates{
		Stage: in.talk.Stage.Name, Item: row.Item, Template: row.Template, Turn: row.Turn, Branch: row.Branch, Draw: row.Draw,
	}
	i, ok := slices.BinarySearch(in.index, hashOf(at))
	if !ok { // a bare name that a coordinate writes otherwise
		at.Branch = url.PathEscape(row.Branch)
		if i, ok = slices.BinarySearch(in.index, hashOf(at)); !ok {
			in.leave(&in.Unknown, "unknown", it, row)
			return at, false
		}
	}
	if bits[i/64]&(1<<(i%64)) != 0 {
		in.leave(&in.Twice, "twice", it, row)
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
	in.Such[kind] = text + " at " + it.Place.String()
}

// Missing returns the first question that a lane has no answer to.
func (in *Incoming) Missing(lane string) (assay.Coordinates, error) {
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
