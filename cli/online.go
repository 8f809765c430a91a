package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"assay"
	"assay/engine"
	"assay/plan"
	"assay/provider"
)

// onlineTimeout bounds the calls to one provider.
const onlineTimeout = 30 * time.Second

// checkOnline asks every provider of a study, by calls that cost nothing, whether the key works, whether the models are
// there and whether batches may be listed.
func checkOnline(ctx context.Context, w *World, d *plan.Input) assay.Problems {
	a := &accounts{world: w, study: d.Study}
	var problems assay.Problems
	for _, k := range d.Keys(w.isSet) {
		if !k.Set && !k.Optional {
			continue // told already
		}
		ctx, cancel := context.WithTimeout(ctx, onlineTimeout)
		problems = append(problems, checkProvider(ctx, a, d, k)...)
		cancel()
	}
	return problems
}

func checkProvider(ctx context.Context, a *accounts, d *plan.Input, k plan.Key) assay.Problems {
	var problems assay.Problems
	at := d.Study.At
	access, err := a.access(k.Provider)
	if err != nil {
		problems.Add(at, "", "%s: %s", k.Provider, err)
		return problems
	}
	asked := false
	if m, ok := access.Live.(provider.Modeler); ok {
		asked = true
		models, err := m.Models(ctx)
		if err != nil {
			problems.Add(at, onlineHint(k, err), "%s: list its models: %s", k.Provider, err)
			return problems
		}
		checkModels(d, k, models, &problems)
	}
	if l, ok := access.Batch.(provider.Lister); ok {
		asked = true
		for _, err := range l.List(ctx) {
			if err != nil {
				problems.Add(at, onlineHint(k, err), "%s: list its batches: %s", k.Provider, err)
			}
			break // one answer is enough
		}
	}
	if asked && len(problems.Errors()) == 0 {
		fmt.Fprintf(a.world.Stderr, "%s: the key works, lanes %s can go\n", k.Provider, strings.Join(k.Lanes, ", "))
	}
	return problems
}

// checkModels warns of lanes whose model the provider does not list; some providers list only part of what they serve.
func checkModels(d *plan.Input, k plan.Key, models []string, problems *assay.Problems) {
	if len(models) == 0 {
		return
	}
	for _, name := range k.Lanes {
		l, ok := d.Study.Lane(name)
		if !ok || slices.ContainsFunc(models, func(m string) bool { return m == l.Model || strings.TrimPrefix(m, "models/") == l.Model }) {
			continue
		}
		problems.Warn(l.Where.Key("model"), assay.DidYouMean(l.Model, models), "lane %s: %s does not list model %q for this key", l.Name, k.Provider, l.Model)
	}
}

// onlineHint says what to do about a provider that says no.
func onlineHint(k plan.Key, err error) string {
	if errors.Is(err, engine.ErrNoKey) {
		return "set " + strings.Join(k.Names, " or ")
	}
	f := provider.FaultOf(err)
	if f == nil || f.Class != assay.FaultDenied {
		return ""
	}
	if k.Provider == "vertex" {
		return "the account needs the roles roles/aiplatform.user on the project and roles/storage.objectAdmin on the buckets of input and output"
	}
	return "check the key in " + strings.Join(k.Names, " or ")
}
