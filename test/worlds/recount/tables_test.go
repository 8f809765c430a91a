package recount_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/internal/study/studyfile"
	"assay/test/worlds/recount"
)

// tableStudy judges imported answers by a rule, which reads the verdict from their words, and has people compare them.
const tableStudy = `study: tables
inputs: {q: {file: q.csv, cluster: topic}}
stages:
  - {name: old, import: {file: a.jsonl, of: q}}
  - name: yes
    judge: old
    rubric: {rule: {regex: {no: "\\bno\\b", yes: "\\byes\\b"}}, labels: {no: 0, yes: 1}}
    %s
  - {name: arena, compare: old, rubric: better, judges: ["human:*"], pairs: {all: true, order: both}}
analyses:
  - {of: yes, by: [lane], primary: true}
  - {of: yes, by: [topic]}
  - {of: arena, method: bradley-terry}
  - {of: arena, method: win-rate}
  - {of: arena, method: positional-bias}
  - {of: arena, method: consistency}
`

// dealt writes a study with random answers and labels: uneven draws, missing cells, clusters, refused and cut answers, ties.
func dealt(seed uint64) (files map[string]string, labels int) {
	r := rand.New(rand.NewPCG(seed, 1))
	count := []string{"", "count: {refused: exclude, cut: worst}"}[r.IntN(2)]
	files = map[string]string{"study.yaml": fmt.Sprintf(tableStudy, count)}
	items, lanes, draws, topics := 1+r.IntN(24), 2+r.IntN(4), 1+r.IntN(3), 1+r.IntN(12)
	var q, a, v strings.Builder
	q.WriteString("id,text,topic\n")
	v.WriteString("item,draw,a,b,winner,judge\n")
	clustered := r.IntN(2) == 0
	for i := range items {
		topic := fmt.Sprint("t", i)
		if clustered {
			topic = fmt.Sprint("t", r.IntN(topics))
		}
		fmt.Fprintf(&q, "i%d,what,%s\n", i, topic)
		var there []string
		for l := range lanes {
			if r.IntN(8) == 0 {
				continue
			}
			name := fmt.Sprintf("lane%d", l)
			there = append(there, name)
			for d := range 1 + r.IntN(draws) {
				word := []string{"yes", "yes", "yes", "no", "no", "perhaps"}[min(5, r.IntN(4+l))]
				ending := []string{"answered", "answered", "answered", "answered", "refused", "cut"}[r.IntN(6)]
				fmt.Fprintf(&a, `{"item":"i%d","lane":"%s","draw":%d,"text":"%s, I say %d","ending":"%s"}`+"\n", i, name, d+1, word,
					r.IntN(1000), ending)
			}
		}
		for k, x := range there {
			for _, y := range there[k+1:] {
				if r.IntN(3) > 0 {
					fmt.Fprintf(&v, "i%d,1,%s,%s,%s,human:ann\n", i, x, y, []string{x, y, "tie"}[r.IntN(3)])
					fmt.Fprintf(&v, "i%d,1,%s,%s,%s,human:ann\n", i, y, x, []string{x, x, y, "tie"}[r.IntN(4)])
					labels++
				}
			}
		}
	}
	files["q.csv"], files["a.jsonl"], files["labels.csv"] = q.String(), a.String(), v.String()
	return files, labels
}

func TestDealtTablesAreRecounted(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			dir := t.TempDir()
			files, labels := dealt(seed)
			for name, text := range files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := typed(dir, "run", "study.yaml", "--rehearse"); err != nil {
				t.Fatal(err)
			}
			if labels > 0 {
				if _, err := typed(dir, "verdicts", "import", "labels.csv", "--stage", "arena"); err != nil {
					t.Fatal(err)
				}
			}
			r, err := exported(dir, studyfile.Options{})
			if err != nil {
				t.Fatal(err)
			}
			printed, err := printedIn(dir)
			if err != nil {
				t.Fatal(err)
			}
			got := recount.Check(r)
			got.Merge(recount.CheckPrinted(r, printed))
			for _, d := range got.Disagreements {
				if !slices.Contains(open, d.What) {
					t.Error(d)
				}
			}
		})
	}
}
