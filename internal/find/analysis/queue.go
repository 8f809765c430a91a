package analysis

import (
	"cmp"
	"hash/fnv"
	"iter"
	"slices"
	"sort"

	"assay/internal/assay"
)

// Task is one answer, or one pair of answers, that a person may be asked about. It names no lane to the person.
type Task struct {
	ID     assay.Key         // of the answer, or of the pair whichever way round it is shown
	At     assay.Coordinates // of the label in the order First, Second; the judge is left empty
	First  string            // of a pair: the lanes or items, in the order of their names; empty: a single answer
	Second string
	Group  string // pairs of one group are dealt evenly: the two lanes; empty: all tasks are one group

	Judged  bool    // a model or a rule has a valid verdict on it
	Mean    float64 // of those verdicts: 1 for yes, 0 for no, or scores
	Done    bool    // this person has labelled it
	Earlier bool    // it has a label from before the judge's prompt changed
	Forward int     // labels of all people with First shown first
	Turned  int     // labels of all people with Second shown first

	Turn   bool   // as chosen: Second is shown first
	Chosen Chosen // why it was chosen
	Said   string // what people said of it, where they differ
	// Probability is with which chance it was drawn, as a file declares; 0: not known.
	Probability float64
	// Among is of how many items it was drawn, where a file declares it.
	Among int
}

// Items returns what a task is about: one item, or two that are compared, in the order in which they are shown.
func (t *Task) Items() []string {
	switch {
	case t.At.Lane != "" || !t.At.Paired():
		return []string{t.At.Item}
	case t.Turn:
		return []string{t.Second, t.First}
	}
	return []string{t.First, t.Second}
}

// Chosen is why a person was asked about something. It is kept with the label: what was chosen by a judge's verdict is
// no plain sample.
type Chosen string

// The reasons.
const (
	ChosenDrawn    Chosen = "drawn"    // in the order of a Draw: its probability is known
	ChosenDeclared Chosen = "declared" // a file of labels declares with which probability
	// ChosenAdjudicated: people differed on it, and this label decides.
	ChosenAdjudicated Chosen = "adjudicated"
	ChosenRandom      Chosen = "random"    // of all answers alike
	ChosenBalanced    Chosen = "balanced"  // the two were compared least often; at random among what they answered
	ChosenPicked      Chosen = "picked"    // by the person, where it was read under its lane's name
	ChosenUncertain   Chosen = "uncertain" // of the two of which it is not clear yet which is better, compared least often
)

// Queue decides what a person is asked next. Its choice follows from these values and the tasks alone, so that a
// terminal and a page that ask the same get the same, and an interrupted queue goes on where it stopped.
type Queue struct {
	Person string
	Seed   uint64
	N      int // how many tasks at most; 0: 100
	// Skip leaves tasks out, such as those that were put aside; nil: none.
	Skip func(assay.Key) bool
	// Balanced has pairs come by how often two were compared, and none of a Draw.
	Balanced bool
	// Clear reports whether it is clear which of two is better, where there are so many pairs: those of which it is not
	// come first. Nil: all alike. Among the rest the least compared come first, never the least certain: a pair that
	// looks apart by luck would not be asked about again, one that looks close would, and the labels would show
	// differences where there are none.
	Clear func(group string, pairs int) bool
}

// Choose picks from all tasks of a stage. Memory grows with N and the number of groups, not with the tasks.
//
// Single answers come at random. Pairs: the least compared group first, in it at random, the order of showing balanced.
func (q Queue) Choose(tasks iter.Seq2[Task, error]) ([]Task, error) {
	if q.N <= 0 {
		q.N = 100
	}
	strata := map[string]*stratum{}
	for t, err := range tasks {
		if err != nil {
			return nil, err
		}
		name := t.stratum()
		s, ok := strata[name]
		if !ok {
			s = &stratum{name: name, rank: q.hash(name)}
			strata[name] = s
		}
		s.forward, s.turned = s.forward+t.Forward, s.turned+t.Turned
		if !t.Done && (q.Skip == nil || !q.Skip(t.ID)) {
			s.keep(waiting{q.hash(string(t.ID[:])), t}, q.N)
		}
	}
	if q.Clear != nil {
		for _, s := range strata {
			s.clear = q.Clear(s.group(), len(strata))
		}
	}
	return q.deal(strata), nil
}

// stratum returns the group that a task is dealt from.
func (t *Task) stratum() string {
	if t.First != "" {
		return "pair " + t.Group
	}
	return string(ChosenRandom)
}

// hash puts things into an order that is this person's own.
func (q Queue) hash(text string) uint64 {
	h := fnv.New64a()
	for i := range 8 {
		h.Write([]byte{byte(q.Seed >> (8 * i))})
	}
	h.Write([]byte(q.Person))
	h.Write([]byte{0})
	h.Write([]byte(text))
	return scramble(h.Sum64())
}

// scramble spreads what differs in a few bits over all of them.
func scramble(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// stratum holds the first tasks of one kind in the random order.
type stratum struct {
	name            string
	rank            uint64
	waiting         []waiting
	forward, turned int
	clear           bool // which of the two is better
}

type waiting struct {
	rank uint64
	task Task
}

func (s *stratum) keep(w waiting, n int) {
	if s.waiting = append(s.waiting, w); len(s.waiting) >= 2*n {
		s.cut(n)
	}
}

func (s *stratum) cut(n int) {
	sort.Slice(s.waiting, func(i, j int) bool {
		a, b := &s.waiting[i], &s.waiting[j]
		return cmp.Or(cmp.Compare(a.rank, b.rank), slices.Compare(a.task.ID[:], b.task.ID[:])) < 0
	})
	s.waiting = s.waiting[:min(n, len(s.waiting))]
}

// deal takes one task after the other from the stratum that is due.
func (q Queue) deal(strata map[string]*stratum) []Task {
	var due []*stratum
	for _, s := range strata {
		s.cut(q.N)
		due = append(due, s)
	}
	sort.Slice(due, func(i, j int) bool { return due[i].rank < due[j].rank })
	var out []Task
	for len(out) < q.N {
		next := q.next(due)
		if next == nil {
			break
		}
		out = append(out, q.take(next))
	}
	return out
}

// next returns the stratum that was dealt from least, those that are clear last; nil where all are empty.
func (q Queue) next(due []*stratum) *stratum {
	var best *stratum
	for _, s := range due {
		if len(s.waiting) > 0 && (best == nil || q.before(s, best)) {
			best = s
		}
	}
	return best
}

func (q Queue) before(s, best *stratum) bool {
	if s.clear != best.clear {
		return best.clear
	}
	return s.forward+s.turned < best.forward+best.turned
}

func (s *stratum) group() string { return s.name[min(len("pair "), len(s.name)):] }

func (q Queue) take(s *stratum) Task {
	t := s.waiting[0].task
	s.waiting = s.waiting[1:]
	if t.First == "" {
		t.Chosen = Chosen(s.name)
		return t
	}
	t.Chosen = ChosenBalanced
	if q.Clear != nil {
		t.Chosen = ChosenUncertain
	}
	t.Turn = s.forward > s.turned || s.forward == s.turned && q.hash("coin"+string(t.ID[:]))&1 == 1
	if t.Turn {
		s.turned++
	} else {
		s.forward++
	}
	return t
}
