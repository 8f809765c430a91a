package crash

import (
	"math/rand/v2"
	"testing"
)

// brief are faults of every call that strike once or twice, so that a run gets over any two of them.
var brief = []string{
	"* upload 500 once", "* upload drop-reply once", "* upload truncate once", "* upload error-200 once",
	"* create 429 once", "* create 500 once", "* create drop-reply once", "* create truncate once", "* create error-200 once",
	"* create stall=600ms once", "openai create fail=token_limit_exceeded once",
	"* check 500 x2", "* check 404 once", "* check drop once", "* check truncate once", "* check error-200 once", "* check freeze x2",
	"openai check no-output once", "* check state=puzzled once",
	"* list 500 once", "* list drop once", "* list truncate once", "* list error-200 once", "* list hide=24h x2",
	"* fetch 500 once", "* fetch 404 once", "* fetch drop-reply once", "* fetch truncate once", "* fetch stall=50ms once",
	"* fetch error-200 once", "* fetch missing once", "* fetch malformed once",
}

// TestAnyTwoFaultsAreGotOver lets two faults strike one run: everything is answered all the same, and billed once.
func TestAnyTwoFaultsAreGotOver(t *testing.T) {
	t.Parallel()
	var all []fault
	for i := range brief {
		for j := range i {
			all = append(all, fault{rules: brief[j] + "; " + brief[i], study: "single --no-canary"})
		}
	}
	total := len(all)
	if *pairs > 0 {
		rand.New(rand.NewPCG(*seed, 1)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		all = all[:min(*pairs, len(all))]
	}
	each(len(all), func(i int) {
		if err := all[i].hold(t.Context(), t.TempDir()); err != nil {
			t.Errorf("%s: %v", all[i].rules, err)
		}
	})
	t.Logf("%d of %d pairs", len(all), total)
}
