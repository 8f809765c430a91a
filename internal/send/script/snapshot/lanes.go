package snapshot

import (
	"encoding/json"
	"slices"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/study"
)

// LanesOf returns the lanes of a plan, one for each stage they answer in.
func LanesOf(run int64, b Beginning) []store.Lane {
	var out []store.Lane
	for _, part := range b.Plan.Parts {
		if st, ok := b.Input.Study.Stage(part.Stage); ok && st.SecondTry != nil && *st.SecondTry {
			part.Requests *= 2 // at most; those that are not needed are spared
		}
		i := slices.IndexFunc(out, func(l store.Lane) bool { return l.Stage == part.Stage && l.Name == part.Lane.Name })
		if i >= 0 {
			out[i].Planned += part.Requests
			continue
		}
		l := laneOf(run, part.Stage, part.Lane, part.Requests)
		wanted := b.Input.Study.Canary == nil || *b.Input.Study.Canary || b.Settings.VerifyFirst
		if part.Mode == assay.ModeBatch && wanted && !b.Settings.NoCanary {
			l.Canary = store.CanaryDue
		}
		out = append(out, l)
	}
	for i := range out {
		st, staged := b.Input.Study.Stage(out[i].Stage)
		if l, ok := b.Input.Study.Lane(out[i].Name); ok && staged && b.Input.Primes(st, l, out[i].Planned) {
			out[i].Canary = store.CanaryDue
		}
	}
	for i := range b.Input.Study.Stages {
		out = append(out, fallbackLanes(run, &b.Input.Study.Stages[i], b.Input.Study, out)...)
	}
	for _, i := range b.Plan.Imports {
		l := laneOf(run, i.Stage, i.Lane, i.Expected)
		l.Params = "{}"
		out = append(out, l)
	}
	return out
}

// laneOf returns a lane of a stage that is open and has no canary.
func laneOf(run int64, stage string, l *study.Lane, planned int64) store.Lane {
	params, err := json.Marshal(l.Params)
	if err != nil {
		params = []byte("{}") // parameters that cannot be written were reported as a problem of the study
	}
	return store.Lane{Run: run, Stage: stage, Name: l.Name, Provider: l.Provider, Model: l.Model, Label: l.Label, Params: string(params),
		Planned: planned, State: store.LaneOpen, Canary: store.CanaryOff}
}

// fallbackLanes returns the lanes that are asked in the place of a stage's judges. At most they are asked all that those are; what is
// not needed is spared.
func fallbackLanes(run int64, st *study.Stage, s *study.Study, planned []store.Lane) []store.Lane {
	if st.Fallback == "" {
		return nil
	}
	most := int64(0)
	for _, p := range planned {
		if p.Stage == st.Name {
			most += p.Planned
		}
	}
	var out []store.Lane
	for _, l := range s.LanesNamed([]string{st.Fallback}) {
		if most > 0 {
			out = append(out, laneOf(run, st.Name, l, most))
		}
	}
	return out
}
