package runs

import (
	"context"

	"assay/internal/find/results"
	"assay/internal/keep/store"
	"assay/internal/send/script/people"
	"assay/internal/study"
)

// unusable reports whether a judge was asked and no verdict can be read from what it replied.
func (l LaneProgress) unusable() bool { return l.Unread > 0 && l.Unread >= l.Answered }

// readOf returns from how many replies of all judges of a stage a verdict was read.
func (s *Standing) readOf(stage string) (n int64) {
	for _, l := range s.Far.Lanes {
		if l.Stage == stage {
			n += l.Answered - l.Unread
		}
	}
	return n
}

// failedStage returns the first stage whose judges were asked, and gave no verdict that can be used; empty: there is none.
func (s *Standing) failedStage(st *study.Study) string {
	type sum struct{ asked, read int64 }
	stages := map[string]sum{}
	for _, l := range s.Far.Lanes {
		n := stages[l.Stage]
		stages[l.Stage] = sum{n.asked + l.Answered + l.Failed, n.read + l.Answered - l.Unread}
	}
	for i := range st.Stages {
		if n := stages[st.Stages[i].Name]; results.GivesVerdicts(&st.Stages[i]) && n.asked > 0 && n.read <= 0 {
			return st.Stages[i].Name
		}
	}
	return ""
}

// failedProgram returns the first stage whose program was run, and gave no verdict at all; empty: there is none.
func failedProgram(ctx context.Context, r *results.Reader, run store.Run, st *study.Study) (string, error) {
	for _, stage := range st.JudgedByPrograms() {
		if _, failed, err := r.Pages.StageJudged(ctx, run.No, stage); err != nil || failed {
			return stage, err
		}
	}
	return "", nil
}

// peoplesStages returns the stages that only people judge and of which they have not judged everything.
func peoplesStages(ctx context.Context, r *results.Reader, run store.Run, st *study.Study) (left []string, err error) {
	for i := range st.Stages {
		s := &st.Stages[i]
		if !results.GivesVerdicts(s) || !people.Alone(s.Judges.List) {
			continue
		}
		seen := map[store.Task]bool{}
		for v, err := range r.Ledger.PeopleVerdicts(ctx, run.No, s.Name) {
			if err != nil {
				return nil, err
			}
			if !v.Stale && !people.Picked(&v) {
				seen[v.Task()] = true
			}
		}
		asked, err := r.Scripts.People(ctx, run, s.Name)
		if err != nil {
			return nil, err
		}
		if !asked.Asked {
			continue
		}
		unseen := -len(seen)
		for _, err := range asked.Tasks(ctx) {
			if err != nil {
				return nil, err
			}
			if unseen++; unseen > 0 {
				left = append(left, s.Name)
				break
			}
		}
	}
	return left, nil
}
