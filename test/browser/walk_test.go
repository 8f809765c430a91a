package browser_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

func TestAWalkThroughTheDashboard(t *testing.T) {
	ctx, stop := context.WithTimeout(context.Background(), 5*time.Minute)
	defer stop()
	dir := t.TempDir()
	v := visit(t, ctx, dashboard(t, ctx, dir))
	v.until("there is no run yet", `document.querySelector("#runs .empty") !== null`)
	ended := rehearse(t, ctx, dir)
	v.until("the run appears by itself", `document.querySelector("#runs .study a") !== null`)
	v.fits("runs")
	run := firstRun(v)
	v.follow("run", ".runs .study a", "#summary")
	v.follow("run in flight", `.tabs a[href$="/progress"]`, "#facts")
	seeItMove(v, ended)
	v.follow("summary", `.tabs a`, ".summary .headline")
	lookAtAnswers(v)
	lookAtFindings(v)
	judgeAPair(v, run)
	waitForWhatIsMade(v, run)
	v.clean()
}

// seeItMove watches the numbers of a run that goes on, without touching the page, until it is done.
func seeItMove(v *visitor, ended <-chan int) {
	v.t.Helper()
	before := v.text("#facts")
	v.until("the page moves by itself", fmt.Sprintf(`document.querySelector("#facts").innerText !== %q`, before))
	if code := <-ended; code != 0 {
		v.t.Fatalf("the rehearsal ended with %d", code)
	}
	v.until("the page sees the end", `document.querySelector("#facts .state-done") !== null`)
	v.fits("run")
}

func lookAtAnswers(v *visitor) {
	v.t.Helper()
	v.follow("answers", `.tabs a[href$="/answers"]`, "table.answers-table")
	v.follow("item", `table.answers-table td a`, ".side .card")
	v.follow("diff", `.side-form button`, "#words")
	v.follow("answer", `.side .lane h2 a`, ".turn.final")
}

func lookAtFindings(v *visitor) {
	v.t.Helper()
	v.do("findings", chromedp.Click(chromedp.CSS(`.tabs a[href$="/findings"]`)), chromedp.WaitVisible(chromedp.CSS("#findings svg.plot")))
	v.fits("findings")
	v.follow("rows behind a number", `#findings td a[href*="/verdicts?"]`, "table.answers-table tbody tr")
}

// judgeAPair gives a verdict with one key, and finds it in the ledger.
func judgeAPair(v *visitor, run string) {
	v.t.Helper()
	v.follow("people", `.tabs a[href$="/people"]`, "form.label-as")
	v.do("begin", chromedp.SetValue(chromedp.CSS(`form.label-as[action$="/arena"] input[name="as"]`), "walker"),
		chromedp.Click(chromedp.CSS(`form.label-as[action$="/arena"] button`)), chromedp.WaitVisible(chromedp.CSS(".two .text")))
	v.fits("arena")
	v.do("press a key", chromedp.KeyEvent("a"), chromedp.WaitVisible(chromedp.CSS(`.arena[data-given="1"] .two`)))
	var found struct {
		Verdicts []struct{ State, Label string }
	}
	v.api(run+"/verdicts?stage=arena&judge=human:walker", &found)
	if len(found.Verdicts) != 1 || found.Verdicts[0].Label != "a" {
		v.t.Errorf("verdicts of the walker: %+v", found.Verdicts)
	}
}

// waitForWhatIsMade meets pages that come before what they are about: they fill themselves, whatever is in them.
func waitForWhatIsMade(v *visitor, run string) {
	v.t.Helper()
	early := page.AddScriptToEvaluateOnNewDocumentParams{Source: `document.addEventListener("readystatechange", () => {
		if (document.readyState !== "interactive") return;
		for (const e of document.querySelectorAll("main [data-live]")) e.innerHTML = '<p class="working">early</p>';
	})`}
	if _, err := chromedp.Call(v.ctx, page.AddScriptToEvaluateOnNewDocument, early); err != nil {
		v.t.Fatal(err)
	}
	for address, then := range map[string]string{
		run: ".summary .headline", run + "/findings": "#findings svg.plot", run + "/grid": "table.matrix", run + "/people": "form.label-as",
		run + "/people/arena?as=walker": ".two .text",
	} {
		v.do(address, chromedp.Navigate(v.base+address), chromedp.WaitVisible(chromedp.CSS(then)))
		v.until("nothing is left to wait for", `document.querySelector(".working") === null`)
	}
}
