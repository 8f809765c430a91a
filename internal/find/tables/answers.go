package tables

import (
	"bytes"
	"encoding/binary"
	"slices"

	"assay/internal/find/stats"
)

// AnswerColumns name the columns of a table that hold yes or no, the groups to count apart, and the cluster; By and
// Cluster may be empty.
type AnswerColumns struct {
	Value   string
	By      []string
	Cluster string
}

// Words lists the values for yes and for no. Without any, true, yes and 1 are yes and false, no and 0 are no, in any
// case; with words for yes alone, every other word is no.
type Words struct {
	Yes, No []string
	Other   Other
}

// Other selects how a word that is neither yes nor no is treated.
type Other uint8

// What may become of other words.
const (
	OtherIsProblem Other = iota
	OtherIsMissing
)

// Answers are the counts of one group.
type Answers struct {
	By       []string // the values that the group has in common
	Yes, No  int
	Missing  int           // rows without a value
	Other    int           // rows with another word
	Clusters []stats.Count // in the order of their first answer; nil when no column of clusters was read
}

// Answers counts the groups in the order of their first rows.
func (t *Table) Answers(c AnswerColumns, w Words) ([]Answers, error) {
	at, err := t.columnsOf(append([]string{c.Value, c.Cluster}, c.By...)...)
	if err != nil {
		return nil, err
	}
	r := answerReader{table: t, words: w, value: at[0], cluster: at[1], by: at[2:], groups: NewNames(), clusters: NewNames(),
		at: map[uint64]int{}}
	for t.Next() {
		r.row()
	}
	return r.out, t.End()
}

type answerReader struct {
	table            *Table
	words            Words
	value, cluster   int
	by               []int
	groups, clusters *Names
	at               map[uint64]int // the place of a cluster in its group
	key              []byte
	out              []Answers
}

func (r *answerReader) row() {
	t := r.table
	value := t.Field(r.value)
	said := r.words.read(value)
	if said == other && r.words.Other == OtherIsProblem {
		t.Bad("name the words with --yes and --no, or leave other words out with --other exclude", "%q is neither yes nor no", clip(value))
		return
	}
	if r.cluster >= 0 && len(t.Field(r.cluster)) == 0 {
		t.Bad("every row needs one, or all such rows would be one cluster", "the cluster is empty")
		return
	}
	group := r.group()
	g := &r.out[group]
	switch said {
	case missing:
		g.Missing++
		return
	case other:
		g.Other++
		return
	case yes:
		g.Yes++
	case no:
		g.No++
	}
	if r.cluster < 0 {
		return
	}
	key := uint64(group)<<32 | uint64(r.clusters.ID(t.Field(r.cluster)))
	at, ok := r.at[key]
	if !ok {
		at = len(g.Clusters)
		r.at[key] = at
		g.Clusters = append(g.Clusters, stats.Count{})
	}
	g.Clusters[at].N++
	if said == yes {
		g.Clusters[at].K++
	}
}

// group returns the row's group. Its key is made of lengths and values, so that no two groups share one.
func (r *answerReader) group() int {
	r.key = r.key[:0]
	for _, column := range r.by {
		value := r.table.Field(column)
		r.key = append(binary.AppendUvarint(r.key, uint64(len(value))), value...)
	}
	id := int(r.groups.ID(r.key))
	if id == len(r.out) {
		var by []string
		for _, column := range r.by {
			by = append(by, string(r.table.Field(column)))
		}
		r.out = append(r.out, Answers{By: by})
	}
	return id
}

// answer returns the meaning of a value.
type answer uint8

const (
	missing answer = iota
	yes
	no
	other
)

func (w Words) read(value []byte) answer {
	is := func(word string) bool { return string(value) == word }
	folded := func(word string) bool { return bytes.EqualFold(value, []byte(word)) }
	own := len(w.Yes)+len(w.No) > 0
	switch {
	case len(value) == 0:
		return missing
	case !own && slices.ContainsFunc([]string{"true", "yes", "1"}, folded), slices.ContainsFunc(w.Yes, is):
		return yes
	case !own && slices.ContainsFunc([]string{"false", "no", "0"}, folded), slices.ContainsFunc(w.No, is):
		return no
	case len(w.Yes) > 0 && len(w.No) == 0:
		return no
	}
	return other
}
