package pages_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/show/report"
)

func TestFiguresAreNumberedInTheirOrder(t *testing.T) {
	t.Parallel()
	page := html(t, document("haiku", "mini"))
	var got, want []string
	for i, m := range regexp.MustCompile(`<span class="figure-title">Figure (\d+)\. `).FindAllStringSubmatch(page, -1) {
		got, want = append(got, m[1]), append(want, fmt.Sprint(i+1))
	}
	if len(got) != strings.Count(page, `<svg class="plot`) || !cmp.Equal(got, want) {
		t.Errorf("%d plots have the numbers %v", strings.Count(page, `<svg class="plot`), got)
	}
	if n := strings.Count(page, `<span class="alone">`); n != len(got) {
		t.Errorf("%d of %d captions stand alone", n, len(got))
	}
}

func TestAReportNamesTheWorksThatItsMethodsRestOnAndNoOthers(t *testing.T) {
	t.Parallel()
	page := html(t, document("haiku", "mini"))
	_, list, _ := strings.Cut(page, `<ul class="works">`)
	list, _, _ = strings.Cut(list, "</ul>")
	var got []string
	for _, m := range regexp.MustCompile(`<li>[A-Z][^(]*?([A-Za-z]+)(?: and [^(]*)? \((\d+)\)`).FindAllStringSubmatch(list, -1) {
		got = append(got, m[1]+" "+m[2])
	}
	want := []string{"Angelopoulos 2023", "Bradley 1952", "Firth 2004", "Holm 1979", "McNemar 1947", "Piepho 2004", "Wilson 1927"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("works (-want +got):\n%s", d)
	}
}

func TestTextsPricesAndSeedsOfAStudyAreInItsReport(t *testing.T) {
	t.Parallel()
	d := document("haiku", "mini")
	d.Wordings = []report.Wording{{Stage: "arena", What: "rubric better", Text: "Which is <b>better</b>?\n\nA or B", Says: "a, b, tie"}}
	d.Statements = []report.Statement{{Input: "spec", Item: "no_flattery", Text: "Praise is earned."}}
	d.Prices = []report.Price{{Model: "x/mini", Mode: "batch", Input: "$0.375", Cached: "unknown", Output: "$2.00", Date: "2026-08-08",
		Source: "list"}}
	d.Origin.Seeds = []report.Seed{{Of: "the pairs of stage arena", Value: "77"}}
	page, text := html(t, d), markdown(t, d)
	for _, want := range []string{"Which is &lt;b&gt;better&lt;/b&gt;?", "Replies: a, b, tie", "Praise is earned.", "$0.375", "2026-08-08",
		"seed of <bdi>the pairs of stage arena</bdi></th><td>77<"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	for _, want := range []string{"Replies: a, b, tie", "Praise is earned.", `\$0.375`, "| seed of the pairs of stage arena | 77 |",
		"#### Figure "} {
		if !strings.Contains(text, want) {
			t.Errorf("the Markdown lacks %s", want)
		}
	}
}
