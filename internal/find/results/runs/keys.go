package runs

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"assay/internal/find/results"
	"assay/internal/send/engine"
	"assay/internal/send/provider"
	"assay/internal/study"
	"assay/internal/study/catalog"
)

// findKeys finds the keys that a shared run waits for while nothing else goes on in it.
func (s *Standing) findKeys(ctx context.Context, r *results.Reader, studies map[string]*study.Study) error {
	if !r.Pages.Shared() || s.Pulse.Holder != "" || s.Far.InFlight+s.Far.Live > 0 {
		return nil
	}
	stranded, err := r.Pages.Stranded(ctx, s.Run.No, engine.DefaultTiming().Lease)
	if err != nil || len(stranded) == 0 {
		return err
	}
	st, err := studyOf(ctx, r, s.Run, studies)
	if err != nil {
		return err
	}
	for _, g := range stranded {
		if name := keyName(st, g.Provider); !slices.Contains(s.Keys, name) {
			s.Keys = append(s.Keys, name)
		}
	}
	slices.Sort(s.Keys)
	return nil
}

// keyName returns the variable that holds the key of a provider of a study, or words for one that has no variable of its own.
func keyName(st *study.Study, name string) string {
	p, _ := st.Providers.Find(name)
	kind, _ := catalog.Default().Kind(name, p.Kind, p.BaseURL)
	v, _ := catalog.Default().Vendor(kind)
	_, from, _ := provider.Resolve(provider.Settings{Name: name, BaseURL: p.BaseURL, KeyEnv: strings.Trim(p.Key, "${}")}, v,
		func(string) string { return "" }) // whoever can reach it says what else is wrong
	return cmp.Or(from.KeyEnv, "a key of "+name)
}
