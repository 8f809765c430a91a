package workspace

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"assay/internal/assay"
	"assay/internal/send/engine"
	"assay/internal/send/provider"
	"assay/internal/study/catalog"
	"assay/internal/study/plan"
)

// onlineTimeout bounds the calls to one provider.
const onlineTimeout = 30 * time.Second

// CheckOnline asks every provider of a study, by calls that cost nothing, whether the key works, whether the models are
// there and whether batches may be listed. Works is called for every key that does.
func (w *World) CheckOnline(ctx context.Context, d *plan.Input, works func(plan.Key)) assay.Problems {
	a := w.Accounts(d.Study)
	var problems assay.Problems
	for _, k := range d.Keys(w.IsSet) {
		if !k.Set && !k.Optional {
			continue // reported already
		}
		ctx, cancel := context.WithTimeout(ctx, onlineTimeout)
		asked, more := a.check(ctx, d, k)
		cancel()
		if asked && len(more.Errors()) == 0 {
			works(k)
		}
		problems = append(problems, more...)
	}
	return problems
}

// check asks one provider; false: there is nothing that it could be asked for free.
func (a *Accounts) check(ctx context.Context, d *plan.Input, k plan.Key) (bool, assay.Problems) {
	var problems assay.Problems
	at := d.Study.At
	access, err := a.Access(k.Provider)
	if err != nil {
		problems.Add(at, "", "%s: %s", k.Provider, err)
		return false, problems
	}
	v, _ := a.vendor(k.Provider)
	asked := false
	if m, ok := access.Live.(provider.Modeler); ok {
		asked = true
		models, err := m.Models(ctx)
		if err != nil {
			problems.Add(at, onlineHint(v, k, err), "%s: list its models: %s", k.Provider, err)
			return true, problems
		}
		checkModels(d, k, models, &problems)
	}
	if l, ok := access.Batch.(provider.Lister); ok {
		asked = true
		for _, err := range l.List(ctx) {
			if err != nil {
				problems.Add(at, onlineHint(v, k, err), "%s: list its batches: %s", k.Provider, err)
			}
			break // one answer is enough
		}
	}
	return asked, problems
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
		problems.Warn(l.Where.Key("model"), assay.DidYouMean(l.Model, models), "lane %s: %s does not list model %q for this key", l.Name,
			k.Provider, l.Model)
	}
}

// onlineHint returns a hint for a provider that refuses.
func onlineHint(v catalog.Vendor, k plan.Key, err error) string {
	if errors.Is(err, engine.ErrNoKey) {
		return "set " + strings.Join(k.Names, " or ")
	}
	f := provider.FaultOf(err)
	if f == nil || f.Class != assay.FaultDenied {
		return ""
	}
	if v.DeniedHint != "" {
		return v.DeniedHint
	}
	return "check the key in " + strings.Join(k.Names, " or ")
}
