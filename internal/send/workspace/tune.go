package workspace

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

// Tune is a change of what an open run may send.
type Tune struct {
	Lanes     []string // that the limits are set for; with no provider either: every lane
	Providers []string // the same, for all lanes of a provider together
	Limits    store.Limits
	Reset     bool // the study's limits count again, before anything else is set

	Budget         *assay.Money // nil: unchanged
	Pause, Unpause []string     // lanes
}

// Tune changes what a run may send, for every process that works on it, and returns what it changed in words.
func (h *Home) Tune(ctx context.Context, run store.Run, t Tune) (string, error) {
	const tries = 10
	for range tries {
		was, err := run.Limits()
		if err != nil {
			return "", err
		}
		is := t.over(was)
		r := store.Retuning{Run: run.No, Was: run.Tuned, Is: is, Budget: t.Budget, Pause: t.Pause, Unpause: t.Unpause, What: t.words(run)}
		words := r.What
		if by := h.World.User(); by != "" {
			r.What += " (by " + by + ")"
		}
		done, err := h.Ledger.Runs.Tune(ctx, r)
		if done || err != nil {
			return words, err
		}
		if run, err = h.Ledger.Reader.Run(ctx, run.No); err != nil { // another person was first
			return "", err
		}
	}
	return "", fmt.Errorf("tune run %s: its limits change all the time", run.ID)
}

// over returns what is tuned after the change.
func (t Tune) over(was store.Tuning) store.Tuning {
	if t.Reset {
		was = store.Tuning{}
	}
	is := store.Tuning{Every: was.Every, Lanes: maps.Clone(was.Lanes), Providers: maps.Clone(was.Providers)}
	if t.Limits == (store.Limits{}) {
		return is
	}
	if len(t.Lanes)+len(t.Providers) == 0 { // what was set for one lane before is overruled
		is.Every = t.Limits.Over(is.Every)
		for name, l := range is.Lanes {
			is.Lanes[name] = t.Limits.Over(l)
		}
	}
	set := func(all map[string]store.Limits, names []string) map[string]store.Limits {
		for _, name := range names {
			if all == nil {
				all = map[string]store.Limits{}
			}
			all[name] = t.Limits.Over(all[name])
		}
		return all
	}
	is.Lanes, is.Providers = set(is.Lanes, t.Lanes), set(is.Providers, t.Providers)
	return is
}

// words describes the change.
func (t Tune) words(run store.Run) string {
	var all []string
	if t.Reset {
		all = append(all, "limits as the study says")
	}
	if t.Limits != (store.Limits{}) {
		all = append(all, limitedWords(t.Lanes, t.Providers)+": "+LimitWords(t.Limits))
	}
	if t.Budget != nil {
		was := "none"
		if run.Budget != nil {
			was = run.Budget.String()
		}
		all = append(all, fmt.Sprintf("budget %s, was %s", t.Budget, was))
	}
	for _, name := range t.Pause {
		all = append(all, "lane "+name+" paused")
	}
	for _, name := range t.Unpause {
		all = append(all, "lane "+name+" goes on")
	}
	return strings.Join(all, "; ")
}

// limitedWords names the lanes and providers that limits are set for.
func limitedWords(lanes, providers []string) string {
	var all []string
	for _, name := range lanes {
		all = append(all, "lane "+name)
	}
	for _, name := range providers {
		all = append(all, "provider "+name)
	}
	if len(all) == 0 {
		return "every lane"
	}
	return strings.Join(all, ", ")
}

// LimitWords describes limits.
func LimitWords(l store.Limits) string {
	var all []string
	if l.Concurrency > 0 {
		all = append(all, fmt.Sprintf("at most %s in flight", assay.Count(l.Concurrency, "request")))
	}
	if l.Rate > 0 {
		all = append(all, rateWords(l.Rate))
	}
	return strings.Join(all, ", ")
}

// rateWords returns how many requests go out a second or, if that is less than one, a minute.
func rateWords(rate float64) string {
	if rate >= 1 {
		return strconv.FormatFloat(rate, 'g', 4, 64) + " a second"
	}
	return strconv.FormatFloat(60*rate, 'g', 4, 64) + " a minute"
}

// TunedWords describes what is tuned in a run; empty: nothing.
func TunedWords(run store.Run) (string, error) {
	t, err := run.Limits()
	if err != nil {
		return "", err
	}
	var all []string
	if t.Every != (store.Limits{}) {
		all = append(all, "every lane: "+LimitWords(t.Every))
	}
	for _, name := range slices.Sorted(maps.Keys(t.Lanes)) {
		all = append(all, "lane "+name+": "+LimitWords(t.Lanes[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(t.Providers)) {
		all = append(all, "provider "+name+": "+LimitWords(t.Providers[name]))
	}
	return strings.Join(all, "; "), nil
}
