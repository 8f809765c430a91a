package tables

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/find/stats"
)

func TestLabelsComeByItemAndRater(t *testing.T) {
	t.Parallel()
	got, err := open(t, "label,rater,item\nyes,ann,q1\nno,bob,q2\nyes,bob,q1\n,ann,q2\n").Labels(labelColumns)
	if err != nil {
		t.Fatal(err)
	}
	want := &Labels{
		Items: []string{"q1", "q2"}, Raters: []string{"ann", "bob"}, Labels: []string{"yes", "no"}, Missing: 1, Cluster: []int{0, 1},
		Given: []Label{{Item: 0, Rater: 0, Label: 0, Line: 2}, {Item: 0, Rater: 1, Label: 0, Line: 4},
			{Item: 1, Rater: 1, Label: 1, Line: 3}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWrongLabelsAreReported(t *testing.T) {
	t.Parallel()
	_, err := open(t, "item,rater,label\nq,ann,x\n,ann,x\nq,,x\nq,ann,y\n").Labels(labelColumns)
	want := []string{
		"votes.csv:3: the item has no name", "votes.csv:4: the rater has no name",
		`votes.csv:5: "ann" labelled "q" on line 2 already (one label for each item and rater; draws get names of their own, such as q1-2)`,
	}
	if diff := cmp.Diff(want, problemsOf(err)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAnswersAreCountedByGroupAndCluster(t *testing.T) {
	t.Parallel()
	text := "model,lang,prompt,label\nm,en,p,TRUE\nm,en,q,0\nm,de,p,\nn,en,p,Yes\nm,en,p,no\nm,en,r,maybe\n"
	got, err := open(t, text).Answers(AnswerColumns{Value: "label", By: []string{"model", "lang"}, Cluster: "prompt"},
		Words{Other: OtherIsMissing})
	if err != nil {
		t.Fatal(err)
	}
	want := []Answers{
		{By: []string{"m", "en"}, Yes: 1, No: 2, Other: 1, Clusters: []stats.Count{{K: 1, N: 2}, {K: 0, N: 1}}},
		{By: []string{"m", "de"}, Missing: 1},
		{By: []string{"n", "en"}, Yes: 1, Clusters: []stats.Count{{K: 1, N: 1}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWordsDecideWhatIsYes(t *testing.T) {
	t.Parallel()
	text := "label\nunsafe\nsafe\nunclear\ntrue\n\"\"\n"
	for name, c := range map[string]struct {
		words Words
		want  []Answers
		wrong []string
	}{
		"yes alone":   {words: Words{Yes: []string{"unsafe"}}, want: []Answers{{Yes: 1, No: 3, Missing: 1}}},
		"two for yes": {words: Words{Yes: []string{"unsafe", "true"}}, want: []Answers{{Yes: 2, No: 2, Missing: 1}}},
		"yes and no": {words: Words{Yes: []string{"unsafe"}, No: []string{"safe"}, Other: OtherIsMissing},
			want: []Answers{{Yes: 1, No: 1, Missing: 1, Other: 2}}},
		"others wrong": {words: Words{Yes: []string{"unsafe", "true"}, No: []string{"safe"}}, wrong: []string{`votes.csv:4: "unclear" is neither yes nor no (name the words with --yes and --no, or leave other words out with --other exclude)`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := open(t, text).Answers(AnswerColumns{Value: "label"}, c.words)
			if c.wrong != nil {
				if diff := cmp.Diff(c.wrong, problemsOf(err)); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				return
			}
			if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}
