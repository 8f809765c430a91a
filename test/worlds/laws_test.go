package worlds

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"assay/internal/show/cli/shell"
)

// law is a promise that every history keeps.
type law string

// The laws, as docs/dev/proof.md words them for users.
const (
	L1  law = "L1 paid once"
	L2  law = "L2 books"
	L3  law = "L3 cap"
	L4  law = "L4 consent"
	L5  law = "L5 nothing lost"
	L6  law = "L6 kills change nothing"
	L7  law = "L7 edits change nothing else"
	L8  law = "L8 one number"
	L9  law = "L9 recomputed"
	L10 law = "L10 states"
	L11 law = "L11 hints"
	L12 law = "L12 no silence"
	L14 law = "L14 secrets and hostile text"
)

// broken is a law that a history did not keep.
type broken struct {
	law       law
	want, got string
	context   string // what was printed
}

func (b *broken) Error() string {
	return fmt.Sprintf("%s\n  promised: %s\n  seen:     %s\n%s", b.law, b.want, b.got, b.context)
}

func asBroken(err error) (*broken, bool) { return errors.AsType[*broken](err) }

func breaks(l law, context, want string, got string, args ...any) error {
	return &broken{law: l, want: want, got: fmt.Sprintf(got, args...), context: context}
}

// runState is a run as `assay status --json` shows it.
type runState struct {
	Run, Study, State, Sentence string
	Closed                      *time.Time
	Wanted                      int64
	Answered                    int64
	WithoutAnswer               int64 `json:"ended_without_answer"`
	Again                       int64 `json:"to_be_sent_again"`
	InFlight                    int64 `json:"in_flight"`
	Ready, Staged, Halted       int64
	Live                        int64    `json:"asked_live"`
	Spent                       *float64 `json:"spent_usd"`
	AtLeast                     float64  `json:"spent_at_least_usd"`
	Reserved                    float64  `json:"reserved_usd"`
	Budget                      *float64 `json:"budget_usd"`
	Perhaps                     float64  `json:"perhaps_spent_usd"`
	Unpriced                    float64  `json:"unpriced_at_most_usd"`
	Doubts                      int64
	Doubles                     []string
	Lanes                       []struct {
		Stage, Lane, Model, State, Reason string
		Open                              int64
		Endings                           map[string]int64
		Surplus                           int64 `json:"paid_twice"`
		Reused                            int64
	}
}

// nano returns dollars as nano-dollars.
func nano(d float64) int64 { return int64(math.Round(d * 1e9)) }

// runs returns all runs, newest first, each as status shows it.
func (h *history) runs(ctx context.Context) ([]runState, error) {
	return h.listed(ctx)
}

// open returns the runs that have not ended.
func (h *history) open(ctx context.Context) ([]runState, error) {
	return h.listed(ctx, "--state", "open")
}

// listed returns the runs that a list names.
func (h *history) listed(ctx context.Context, flags ...string) ([]runState, error) {
	s := h.assay(ctx, ending{}, append([]string{"runs", "--json", "--limit", "0"}, flags...)...)
	var list struct {
		Runs []struct {
			Run, State, Sentence string
			Spent                float64 `json:"spent_at_least_usd"`
		}
	}
	if err := json.Unmarshal([]byte(s.out), &list); err != nil {
		return nil, breaks(L8, s.String(), "runs --json is JSON", "%s", err)
	}
	var all []runState
	for _, r := range list.Runs {
		if r.State == "planned" {
			continue
		}
		s := h.assay(ctx, ending{}, "status", r.Run, "--json")
		var st runState
		if err := json.Unmarshal([]byte(s.out), &st); err != nil {
			return nil, breaks(L8, s.String(), "status --json is JSON", "%s", err)
		}
		if nano(r.Spent) != nano(st.AtLeast) {
			return nil, breaks(L2, s.String(), "runs and status name the same spent", "%g and %g", r.Spent, st.AtLeast)
		}
		if r.State != st.State || r.Sentence != st.Sentence {
			return nil, breaks(L10, s.String(), "runs and status name the same state", "%s (%s)\nand %s (%s)", r.State, r.Sentence,
				st.State, st.Sentence)
		}
		all = append(all, st)
	}
	return all, nil
}

// settle lets the providers work again and has the person finish what is open, as hints advise.
func (h *history) settle(ctx context.Context) error {
	if err := h.calm(ctx); err != nil {
		return err
	}
	if h.rotated {
		h.rotate() // jobs are with the keys that made them
	}
	const most = 12
	again := false
	for n := range most {
		args := []string{"resume", "--all"}
		if again {
			args = []string{"run", "study.yaml", "--yes"} // what was edited meanwhile, or never begun
		}
		if err := errors.Join(h.collectCalls(ctx), h.sane(h.assay(ctx, ending{}, args...))); err != nil {
			return err
		}
		open, err := h.open(ctx)
		if err != nil {
			return err
		}
		if len(open) == 0 && (again || h.ran) {
			return nil
		}
		again = len(open) == 0
		for _, r := range open {
			if err := h.checkHints(ctx, r); err != nil {
				return err
			}
			if err := h.advance(ctx, r, n); err != nil {
				return err
			}
			if h.rekeyed && strings.Contains(h.assay(ctx, ending{}, "status", r.Run).out, "made with another key") {
				h.rotate() // what was begun with the others
			}
		}
		time.Sleep(25 * time.Hour)
	}
	open, err := h.open(ctx)
	if err == nil && len(open) > 0 {
		st := h.assay(ctx, ending{}, "status", open[0].Run)
		err = breaks(L12, st.String(), "with providers that work, a run comes to its end", "it is open after %d tries and days", most)
	}
	return err
}

// calm ends all faults.
func (h *history) calm(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete, "http://simulator.invalid/sim/faults", nil)
	if err != nil {
		return err
	}
	resp, err := h.sim.Transport().RoundTrip(req)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// advance does what the state of an open run asks for.
func (h *history) advance(ctx context.Context, r runState, n int) error {
	args := []string{"retry", r.Run, "--yes"}
	if err := h.checkCap(ctx); err != nil {
		return err
	}
	if r.Budget != nil {
		args = []string{"resume", r.Run, "--budget", fmt.Sprintf("%f USD", *r.Budget*4+0.01), "--yes"}
		if n%2 == 1 {
			args = []string{"retry", r.Run, "--yes"}
		}
	}
	return h.sane(h.assay(ctx, ending{}, args...))
}

// checkCap holds what was billed against the budget, before the person raises it or at the end.
func (h *history) checkCap(ctx context.Context) error {
	if !h.Study.High || h.Study.Budget == 0 || h.raised || slices.ContainsFunc(h.Actions, func(a Action) bool { return a.Do == doEdit }) {
		return nil
	}
	h.raised = true
	b, err := h.billed(ctx)
	if err == nil && b.sum > h.Study.Budget {
		err = breaks(L3, "", fmt.Sprintf("at most %d nano-dollars are billed", h.Study.Budget), "%d", b.sum)
	}
	return err
}

// judgeWorld holds a history that has ended to the laws.
func (h *history) judgeWorld(ctx context.Context) error {
	all, err := h.lookedAgain(ctx)
	if err != nil {
		return err
	}
	b, err := h.billed(ctx)
	if err = errors.Join(err, h.checkCap(ctx)); err == nil {
		err = h.export(ctx)
	}
	if err != nil {
		return err
	}
	for _, check := range []func(context.Context, []runState, bill) error{h.checkRecovered, h.checkBooks, h.checkStates,
		h.checkPaidOnce, h.checkLost, h.checkMadeOnce, h.checkRaw, h.checkConsent, h.checkReuse, h.checkLabels, h.checkAnswers,
		h.checkVerdicts, h.checkPages, h.checkSecrets, h.checkNumbers, h.checkAdvice} {
		if err := check(ctx, all, b); err != nil {
			return err
		}
	}
	return nil
}

// lookedAgain returns all runs once none waits to look for a job once more: closed ones do, an hour after a create call was taken for
// lost.
func (h *history) lookedAgain(ctx context.Context) ([]runState, error) {
	for range 3 {
		all, err := h.runs(ctx)
		waits := slices.ContainsFunc(all, func(r runState) bool { return r.State == "waiting" })
		if err != nil || !waits {
			return all, err
		}
		time.Sleep(25 * time.Hour)
		if err := h.sane(h.assay(ctx, ending{}, "resume", "--all")); err != nil {
			return nil, err
		}
	}
	all, err := h.runs(ctx)
	for _, r := range all {
		if r.State == "waiting" {
			return nil, breaks(L12, h.statuses(ctx, all), "with providers that work, a run comes to its end",
				"run %s waits for days", r.Run)
		}
	}
	return all, err
}

// checkStates holds the words for a run against its numbers.
func (h *history) checkStates(ctx context.Context, all []runState, _ bill) error {
	for _, r := range all {
		if r.Closed == nil {
			continue
		}
		if n := r.InFlight + r.Ready + r.Staged + r.Live + r.Halted + r.Again; n > 0 {
			return breaks(L10, h.statuses(ctx, all), "a closed run has nothing open", "%d requests of run %s are", n, r.Run)
		}
		if r.State == "done" && r.Answered != r.Wanted {
			return breaks(L10, h.statuses(ctx, all), "done means that everything has an answer", "%d of %d have", r.Answered, r.Wanted)
		}
		if r.Reserved != 0 {
			return breaks(L3, h.statuses(ctx, all), "a closed run reserves nothing", "run %s reserves %g", r.Run, r.Reserved)
		}
	}
	return nil
}

// checkSecrets looks for the key in everything that was printed.
func (h *history) checkSecrets(_ context.Context, _ []runState, _ bill) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.said {
		if text := s.out + s.err; strings.Contains(text, secret) {
			return breaks(L14, s.String(), "no key is printed", "it is")
		} else if strings.Contains(text, "\x1b[31m") {
			return breaks(L14, s.String(), "no escape of an answer reaches a terminal", "it does")
		}
	}
	return nil
}

// statuses prints all runs.
func (h *history) statuses(ctx context.Context, all []runState) string {
	var b strings.Builder
	for _, r := range all {
		fmt.Fprintln(&b, h.assay(ctx, ending{}, "status", r.Run))
	}
	return b.String()
}

// readAll looks at everything there is to look at.
func (h *history) readAll(ctx context.Context) error {
	all := [][]string{ // what exports write is read at the end, and so are findings as JSON
		{"runs"}, {"status"}, {"spend"},
	}
	if h.shows(0) {
		all = append(all, []string{"analyse"}, []string{"report", "--out", "report.html"})
	}
	for _, args := range all {
		s := h.assay(ctx, ending{}, args...)
		if s.code == shell.ExitFailed {
			return breaks(L5, s.String(), "what is kept can be read", "exit 1")
		}
	}
	return nil
}
