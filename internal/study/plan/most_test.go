package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"assay/internal/assay"
	"assay/internal/study"
	"assay/internal/study/catalog"
	"assay/internal/study/media"
	"assay/internal/study/plan"
	"assay/internal/study/tokens"
)

// TestTheMostCoversWhateverIsBilled asks every model of the catalogue, in both modes, for short and long prompts of plain and of odd
// text. Nothing that a reply may report of such a request costs more than the most that is reserved for it: whether its prompt is
// written to a cache or read from it, its answer all thoughts and as long as it may be, or its tier one that no list has, the one that
// was asked for, or another that is named as no dearer.
func TestTheMostCoversWhateverIsBilled(t *testing.T) {
	t.Parallel()
	counter := tokens.NewCounter()
	texts := map[string]int{} // with their tokens
	for _, one := range []string{"The answer is a word of some length. ", "w174 w809 w3 ", "东西南北", "{[(%$#"} {
		for _, n := range []int{1, 200, 100_000} {
			text := strings.Repeat(one, n)
			texts[text] = counter.Count(one) * n // of a whole text it is no more
		}
	}
	books, checked := catalog.Default(), 0
	for _, v := range books.Vendors() {
		for _, m := range books.Models(v.Name) {
			in := &plan.Input{Study: &study.Study{}, Catalog: books}
			lane := &study.Lane{Lane: assay.Lane{Name: "l", Provider: v.Name, Model: m.Name, Params: assay.Params{MaxTokens: 4000}}}
			for _, mode := range []assay.Mode{assay.ModeBatch, assay.ModeLive} {
				tiers := []string{""}
				if mode == assay.ModeLive {
					tiers = append(tiers, v.ServiceTiers...)
				}
				for _, tier := range tiers {
					lane.Params.ServiceTier = tier
					r := in.Route(&study.Stage{}, lane, mode)
					if !r.Price.Covers(catalog.Billing{Mode: mode, Tier: tier}) {
						continue
					}
					for text, n := range texts {
						checked += covers(t, fmt.Sprintf("%s/%s, %s %s, %d tokens", v.Name, m.Name, mode, tier, n), in, r, len(text), n)
					}
				}
			}
		}
	}
	if checked < 10_000 {
		t.Errorf("%d bills were checked", checked)
	}
}

// covers holds the bills of one request against its reserve, and returns how many there were.
func covers(t *testing.T, name string, in *plan.Input, r plan.Route, bytes, n int) int {
	t.Helper()
	_, high := r.Estimate(bytes, media.Tokens{})
	high.Sum = max(high.Sum, r.AtMost(n, media.Tokens{}).Sum)
	if !high.Known() {
		t.Errorf("%s: no reserve", name)
		return 0
	}
	sent := int64(float64(n)*in.Catalog.TokenFactor(r.Lane.Provider, r.Lane.Model)) + 8
	usages := []assay.Usage{{Input: sent}, {Input: sent, Cached: sent}, {Input: sent, Cached: sent / 2}}
	if r.Wire.CacheMarks || !in.Vendor(&study.Lane{Lane: r.Lane}).CacheMarks { // else nothing is written
		usages = append(usages, assay.Usage{Input: sent, CacheWrite5m: sent},
			assay.Usage{Input: sent, Cached: sent / 2, CacheWrite5m: sent / 2})
	}
	for _, u := range usages {
		if u.CacheWrite5m > 0 && sent < 1024 {
			continue // too short for any cache
		}
		u.Known, u.Output, u.Reasoning = true, 4000, 4000
		asked := r.Lane.Params.ServiceTier
		tiers := []string{asked}
		if !r.Price.Dearer("unlisted", asked) {
			tiers = append(tiers, "unlisted")
		}
		for tier := range r.Price.Tiers {
			if !r.Price.Dearer(tier, asked) {
				tiers = append(tiers, tier)
			}
		}
		for _, tier := range tiers {
			mode := assay.ModeLive
			if r.Wire.Carrier != "" {
				mode = assay.ModeBatch
			}
			if bill := r.Price.Bill(u, catalog.Billing{Mode: mode, Tier: tier}); !bill.Known() || bill.Sum > high.Sum {
				t.Errorf("%s: %+v costs %s, reserved are %s", name, u, bill, high)
			}
		}
	}
	return 2 * len(usages)
}
