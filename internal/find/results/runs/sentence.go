package runs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/results"
	"assay/internal/keep/store"
	"assay/internal/send/batchrun"
	"assay/internal/send/engine"
)

// Sentence returns the state of a run, where its requests are, what it cost, and why it is in its state.
func (s Standing) Sentence() string {
	cost := s.Needs.Cost.Spent()
	if s.Run.Rehearsal {
		cost = s.Needs.Cost.WouldBe()
	}
	return fmt.Sprintf("Run %s of %s %s: %s; %s.", s.Run.ID, s.Run.Study, s.verb(), s.Counts(), cost) + after(" ", s.Why())
}

// verb returns the state as the verb of a sentence about the run.
func (s Standing) verb() string {
	switch s.State {
	case StateJudges:
		if s.Program {
			return "has no result, its judging program failed"
		}
		return "has no result, its judges failed"
	case StatePeople:
		return "is done but for people to vote"
	}
	return "is " + string(s.State)
}

// Counts returns how many requests are where. What is staged is not in flight: no provider has it.
func (s Standing) Counts() string {
	p := s.Far.Progress
	if p.Wanted == 0 {
		return "it has no requests"
	}
	text := fmt.Sprintf("%s of %s %s an answer", assay.Thousands(p.Answered), assay.Count(p.Wanted, "request"),
		assay.Verb(p.Answered, "has", "have"))
	add := func(n int64, verb, verbs, words string) {
		if n > 0 {
			text += ", " + assay.Thousands(n) + " " + assay.Verb(n, verb, verbs) + " " + words
		}
	}
	if s.Run.State == store.RunClosed {
		add(p.Wanted-p.Answered-p.Failed-p.Open(), "could", "could", "not be asked")
	}
	add(p.Failed-p.Again, "ended", "ended", "without one")
	add(p.Again, "goes", "go", "out again")
	add(p.InFlight, "is", "are", "in flight"+s.places())
	add(p.Live, "goes", "go", "live")
	add(p.Staged, "is", "are", "staged and not sent")
	add(s.left(), "is", "are", "left in lanes that are stopped or held")
	return text
}

// left returns how many requests wait for a person: all that are not done in lanes that do not move, sent or not, and those of held
// segments.
func (s Standing) left() int64 {
	n := s.Far.Halted
	for _, l := range s.Far.Lanes {
		if l.State != store.LaneOpen && s.Run.State != store.RunClosed {
			n += max(0, l.stuck-l.Live-l.Halted)
		}
	}
	return n
}

// places returns which providers have requests in flight, and how many they count as answered.
func (s Standing) places() string {
	var names []string
	for _, l := range s.Far.Lanes {
		if l.InFlight > 0 && l.Provider != "" && !slices.Contains(names, l.Provider) {
			names = append(names, l.Provider)
		}
	}
	slices.Sort(names)
	text := after(" at ", assay.Listed(names))
	if s.Far.Ready > 0 {
		text += fmt.Sprintf(" (%s of them answered, by the provider's count)", assay.Thousands(s.Far.Ready))
	}
	return text
}

func after(before, text string) string {
	if text == "" {
		return ""
	}
	return before + text
}

// Why returns why a run is in its state, as a sentence; empty: the state alone is enough.
func (s Standing) Why() string {
	reason := after(": ", strings.TrimSuffix(assay.Clean(s.Lane.Reason, 500), ".")) // a provider's words may end with one
	switch s.Cause {
	case CauseSegments:
		return "Segments are held: a person has to decide."
	case CauseLane:
		lanes := LanesAre(s.like()...)
		return fmt.Sprintf("%s %s%s.", strings.ToUpper(lanes[:1])+lanes[1:], s.Lane.State, reason)
	case CauseYes:
		return "First answers wait for a yes."
	case CauseBudget:
		return "What is left does not fit into the budget" + s.shortage() + "."
	case CausePaused:
		return "Paused: " + s.paused() + "."
	case CauseNobody:
		return "No process drives it."
	case CauseProvider:
		return fmt.Sprintf("%s asks to wait until %s.", cmp.Or(s.Lane.Provider, "A provider"), clockOf(s.Until, s.now))
	case CauseCompare:
		return fmt.Sprintf("Nothing is sent before the jobs at its providers were compared with the ledger: %s.",
			assay.Clean(s.Run.Reconcile, 500))
	case CauseAudit:
		return fmt.Sprintf("%s at its provider %s to be looked for once more, from %s on: a create call was taken for lost, or a list "+
			"could not be read.", assay.Count(s.Needs.Owed, "job"), assay.Verb(s.Needs.Owed, "is", "are"), clockOf(s.Until, s.now))
	case CauseKeys:
		return fmt.Sprintf("Waiting for %s, which no worker that is alive has.", strings.Join(s.Keys, ", "))
	case CauseCancel:
		return s.cancelled()
	}
	switch s.State {
	case StateJudges:
		if s.Program {
			return fmt.Sprintf("The program of stage %s gave no verdict.", s.Stage)
		}
		return fmt.Sprintf("No verdict of stage %s can be used.", s.Stage)
	case StatePeople:
		if len(s.Left) > 1 {
			return "Stages " + assay.Listed(s.Left) + " are left to people."
		}
		return fmt.Sprintf("Stage %s is left to people.", s.Stage)
	case StatePlanned:
		return "Nothing was sent yet."
	case StateInFlight:
		if !s.Alive {
			return "No process drives it; jobs at the providers go on."
		}
	}
	return ""
}

// like returns the lanes that are in the state of the one that a sentence is about, for the same reason.
func (s Standing) like() []string {
	names := []string{s.Lane.Name}
	for _, l := range s.Far.Lanes {
		if l.State == s.Lane.State && l.Reason == s.Lane.Reason && !l.Complete() && !slices.Contains(names, l.Name) {
			names = append(names, l.Name)
		}
	}
	return names
}

// LanesAre begins words about lanes, of which it names the first.
func LanesAre(names ...string) string {
	const most = 3
	if len(names) == 1 {
		return "lane " + assay.Clean(names[0], 100) + " is"
	}
	text := assay.Clean(strings.Join(names[:min(most, len(names))], ", "), 300)
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("%d lanes (%s) are", len(names), text)
}

// cancelled returns what becomes of what a cancelled run has left at its providers.
func (s Standing) cancelled() string {
	if p := s.Far.Progress; p.InFlight+p.Live == 0 {
		return "Nothing more is sent; what came back is still to be read."
	}
	return "Nothing more is sent. Jobs at the providers were asked to stop: what they did until then is paid for, " +
		"and kept when it is collected."
}

// shortage returns what the budget has left, and what is needed.
func (s Standing) shortage() string {
	if s.Run.Budget == nil {
		return ""
	}
	left := max(0, *s.Run.Budget-s.Run.Spent-s.Run.Reserved-s.Run.Perhaps)
	return fmt.Sprintf(": %s of %s is left", left, *s.Run.Budget) + after(", ", s.Short)
}

// paused names the lanes that a person paused.
func (s Standing) paused() string {
	var names []string
	for _, l := range s.Far.Lanes {
		if l.State == store.LanePaused && !slices.Contains(names, l.Name) {
			names = append(names, l.Name)
		}
	}
	return strings.Join(names, ", ")
}

// Step is a command to type in a state, and what it does.
type Step struct {
	First   string // what a person has to do before; empty: nothing
	Command string
	Does    string
}

// Next returns what a person may type in this state. Named is the run as commands take it.
func (s Standing) Next(named string) []Step {
	resume := Step{Command: "assay resume " + named, Does: "goes on with it"}
	switch s.Cause {
	case CauseSegments:
		first := Step{Command: "assay status " + named + " --segments", Does: "lists them, assay resolve decides"}
		if s.Listed {
			first = Step{Command: "assay resolve " + named + " SEGMENT", Does: "decides"}
		}
		if s.Job.Job == "" {
			return []Step{first}
		}
		return []Step{first, {First: "where a key is refused, set a key that works",
			Command: fmt.Sprintf("assay resolve %s %d --adopt %s", named, s.Job.No, results.ShellWord(s.Job.Job))}}
	case CauseLane:
		return s.mend(named)
	case CauseYes:
		return []Step{{Command: resume.Command + " --proceed", Does: "sends the rest"},
			{Command: "assay cancel " + named, Does: "ends the run"}}
	case CauseBudget:
		return []Step{{Command: resume.Command + " --budget AMOUNT", Does: "raises it and goes on"}}
	case CausePaused:
		return []Step{{Command: "assay tune " + named + " --unpause " + results.ShellWord(s.Lane.Name), Does: "takes the pause back"},
			resume}
	case CauseAudit:
		return []Step{{Command: resume.Command, Does: "does it"}}
	case CauseKeys:
		return []Step{{First: "set " + strings.Join(s.Keys, ", ") + " where a worker runs, or here", Command: resume.Command}}
	case CauseProvider:
		resume.Does = "does not wait"
	case CauseCancel:
		resume.Does = "collects what the jobs did, and closes it"
	}
	switch {
	case s.State == StateJudges:
		why := Step{Command: "assay errors " + named + " --verdicts", Does: "lists why"}
		if s.Program {
			return []Step{why, {First: "mend the program", Command: "assay run"}}
		}
		return []Step{why}
	case s.State == StateIncomplete:
		return []Step{{Command: "assay errors " + named, Does: "lists why"}}
	case s.State == StatePeople:
		return []Step{{Command: "assay label " + named + " " + results.ShellWord(s.Stage), Does: "shows what is to be judged"}}
	case s.Run.State == store.RunOpen && s.Pulse.Holder == "":
		return []Step{resume}
	}
	return nil
}

// mend returns what to do about a lane that is stopped or held. What is wrong with a key or an account is not in the study.
func (s Standing) mend(named string) []Step {
	retry := Step{Command: "assay retry " + named, Does: "sends the rest as it is"}
	_, file := batchrun.Of(s.Run)
	switch {
	case file || engine.StoppedByAccount(s.Lane):
		return []Step{{First: "mend it", Command: retry.Command}}
	case s.Lane.Unread > 0 && s.Lane.Unread >= s.Lane.Endings[assay.Answered]:
		return []Step{{Command: "assay errors " + named + " --verdicts", Does: "lists why"}, retry}
	}
	return []Step{{First: "correct the study", Command: "assay run"}, retry}
}

// Advice returns in words what a person may type in this state; empty: there is nothing to do.
func (s Standing) Advice(named string) string {
	var all []string
	for _, step := range s.Next(named) {
		if step.First != "" { // not to be typed as things are
			all = append(all, step.First+", then "+step.Command)
			continue
		}
		all = append(all, "`"+step.Command+"` "+step.Does)
	}
	return strings.Join(all, ", ")
}

// Commands returns the commands that a person may type in this state.
func (s Standing) Commands(named string) []string {
	var all []string
	for _, step := range s.Next(named) {
		all = append(all, step.Command)
	}
	return all
}
