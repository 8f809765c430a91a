package browser_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"assay/internal/show/cli"
)

// toLabel writes a study whose answers are there, and has judges judge them: 20 items, two lanes, a rule for every item.
func toLabel(t *testing.T, ctx context.Context) string {
	t.Helper()
	items, old := "id,text,statement\n", "item,lane,text\n"
	for i := range 20 {
		items += fmt.Sprintf("q%02d,What is %d and %d?,Rule %d: a sum is bold.\n", i, i, i, i)
		old += fmt.Sprintf("q%02d,secret-one,The sum is **%d**.\nq%02d,secret-two,\"| sum |\n|---|\n| %d |\"\n", i, 2*i, i, 2*i)
	}
	study := `study: labelled
inputs: {q: {file: q.csv}}
lanes: {judge: {model: openai/gpt-4.1, temperature: 0, max_tokens: 300}}
stages:
  - {name: answers, import: {file: old.csv, of: q}, prompt: "{{ text }}"}
  - {name: keeps, judge: answers, rubric: compliance, judges: [judge]}
  - {name: stars, judge: answers, rubric: likert, judges: [judge]}
`
	dir := t.TempDir()
	for name, text := range map[string]string{"q.csv": items, "old.csv": old, "study.yaml": study} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if code := cli.Main(ctx, world(dir, io.Discard, "run", "study.yaml", "--rehearse", "--yes")); code != 0 {
		t.Fatalf("the rehearsal ended with %d", code)
	}
	return dir
}

// A person sees the question, the rule, the answer as it is meant to look and words at both ends of the scale, and nothing of whose answer
// it is; labels, takes back and goes on by keys alone.
func TestAPersonLabelsByKeys(t *testing.T) {
	ctx, stop := context.WithTimeout(context.Background(), 5*time.Minute)
	defer stop()
	v := visit(t, ctx, dashboard(t, ctx, toLabel(t, ctx)))
	run := firstRun(v)
	v.begin(run, "stars", "anna", "")
	v.legible("label")
	page := v.text("main")
	for _, want := range []string{"What is ", "Rule ", "the opposite, or nothing of it", "nothing missing, nothing wrong", "cannot tell",
		"0 of 40 answers judged by people"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q:\n%s", want, page)
		}
	}
	for _, hidden := range []string{"secret", "gpt", "openai"} {
		if strings.Contains(page, hidden) {
			t.Errorf("the page shows %q", hidden)
		}
	}
	v.until("the answer is rendered", `document.querySelector(".final .text strong, .final .text table") !== null`)
	v.until("what the judge is told is open at first", `document.querySelector("details.told").open`)
	v.until("the answer is last, above the keys", `document.querySelector("#sheet > :last-child").classList.contains("final")`)
	task := `document.querySelector("#task input").value`
	first := read(v, "the first task", chromedp.Evaluate[string](task))
	v.press("5", 1)
	v.until("what was read is folded", `!document.querySelector("details.told").open`)
	v.press("u", 0)
	if again := read(v, "the task after undo", chromedp.Evaluate[string](task)); again != first {
		t.Errorf("undo shows %s, not %s", again, first)
	}
	began := time.Now()
	for n := range 40 {
		v.press(fmt.Sprint(1+n%5), n+1)
	}
	t.Logf("40 labels by keys: %d ms each", time.Since(began).Milliseconds()/40)
	if page := v.text("main"); !strings.Contains(page, "40 of 40 answers judged by people") || !strings.Contains(page, "Nothing is left to judge") {
		t.Errorf("after 40 labels:\n%s", page)
	}
	v.clean()
}

// Two people differ, and a third decides.
func TestAPersonDecidesWhatOthersDifferOn(t *testing.T) {
	ctx, stop := context.WithTimeout(context.Background(), 5*time.Minute)
	defer stop()
	dir := toLabel(t, ctx)
	keys := world(dir, io.Discard, "label", "latest", "keeps", "--as", "anna", "--raters", "2", "--count", "4")
	keys.Stdin = strings.NewReader("1122")
	if code := cli.Main(ctx, keys); code != 0 {
		t.Fatalf("label ended with %d", code)
	}
	v := visit(t, ctx, dashboard(t, ctx, dir))
	run := firstRun(v)
	v.begin(run, "keeps", "bob", "")
	for n := range 4 {
		v.press("1", n+1)
	}
	v.do("summary", chromedp.Navigate(v.base+run), chromedp.WaitVisible(chromedp.CSS(".summary .headline")))
	if page := v.text(".basis"); !strings.Contains(page, "judge being checked: 4 of 40 labels, agrees in ") {
		t.Errorf("the summary after four labels: %s", page)
	}
	v.legible("summary while a judge is checked")
	v.begin(run, "keeps", "bob", "")
	if page := v.text("#votes"); !strings.Contains(page, "people agree on 2 of 4 answers that several labelled (50%)") {
		t.Errorf("after both: %s", page)
	}
	v.begin(run, "keeps", "carol", `input[value="adjudicate"]`)
	if page := v.text("main"); !strings.Contains(page, "compliant: 1, noncompliant: 1") {
		t.Errorf("the decider does not see what people said:\n%s", page)
	}
	v.press("2", 1)
	v.press("2", 2)
	v.until("nothing is left", `document.querySelector("#sheet .empty") !== null`)
	var found struct {
		Verdicts []struct{ State, Label string }
	}
	v.api(run+"/verdicts?stage=keeps&judge=human:carol", &found)
	if len(found.Verdicts) != 2 || found.Verdicts[0].Label != "noncompliant" {
		t.Errorf("verdicts of carol: %+v", found.Verdicts)
	}
	v.clean()
}

// begin begins to label as somebody, with a box ticked if one is named.
func (v *visitor) begin(run, stage, name, box string) {
	v.t.Helper()
	form := `form.label-as[action$="/` + stage + `"] `
	v.do("people", chromedp.Navigate(v.base+run+"/people"), chromedp.WaitVisible(chromedp.CSS(form)),
		chromedp.SetValue(chromedp.CSS(form+`input[name="as"]`), name))
	if box != "" {
		v.do("tick", chromedp.Click(chromedp.CSS(form+box)))
	}
	v.do("begin", chromedp.Click(chromedp.CSS(form+"button")), chromedp.WaitVisible(chromedp.CSS(".final .text")))
}

// press presses a key and waits until so many labels were given.
func (v *visitor) press(key string, given int) {
	v.t.Helper()
	v.do("press "+key, chromedp.KeyEvent(key),
		chromedp.WaitVisible(chromedp.CSS(fmt.Sprintf(`.arena[data-given="%d"] #sheet > :not(.working)`, given))))
}
