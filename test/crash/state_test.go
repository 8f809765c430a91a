package crash

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/keep/ledger"
	"assay/internal/keep/store"
	"assay/internal/simulator"
)

// state is the result of a run. It is the same however often the run was killed.
type state struct {
	Result   store.Result
	Spent    assay.Money
	Reserved assay.Money
	Answers  map[string]answer // by key
	Lanes    map[string]counts
	Verdicts int
}

type answer struct {
	At     assay.Coordinates
	Ending assay.Ending
	Text   string
	Cost   assay.Money
}

type counts struct {
	State   store.LaneState
	Planned int64
	Open    int64
	Endings map[assay.Ending]int64
	Surplus int64
}

func (s *session) state(ctx context.Context) (st state, err error) {
	err = s.look(ctx, func(l *ledger.Ledger) error {
		st, err = stateOf(ctx, l)
		return err
	})
	return st, err
}

func stateOf(ctx context.Context, l *ledger.Ledger) (state, error) {
	run, err := l.Reader.FindRun(ctx, "latest", "")
	if err != nil {
		return state{}, err
	}
	st := state{Result: run.Result, Spent: run.Spent, Reserved: run.Reserved, Answers: map[string]answer{}, Lanes: map[string]counts{}}
	for a, err := range l.Reader.Answers(ctx, run.No, "", "") {
		if err != nil {
			return st, err
		}
		got := answer{At: a.At, Ending: a.Outcome.Ending, Text: a.Outcome.Text}
		if a.Cost != nil {
			got.Cost = *a.Cost
		}
		if _, twice := st.Answers[a.Key.String()]; twice {
			return st, fmt.Errorf("request %s stands twice in the list of answers", a.Key)
		}
		st.Answers[a.Key.String()] = got
	}
	lanes, err := l.Reader.Lanes(ctx, run.No)
	if err != nil {
		return st, err
	}
	for _, lane := range lanes {
		endings := map[assay.Ending]int64{}
		for e, n := range lane.Endings {
			if n > 0 {
				endings[e] = n
			}
		}
		st.Lanes[lane.Stage+" "+lane.Name] = counts{lane.State, lane.Planned, lane.Open, endings, lane.Surplus}
	}
	verdicts, err := rowsOf(ctx, l, "SELECT COUNT(*) FROM verdicts")
	if err == nil {
		_, err = fmt.Sscan(verdicts[0], &st.Verdicts)
	}
	return st, err
}

// sound finds what may never be in a ledger, whatever happened.
func (s *session) sound(ctx context.Context) error {
	for what, query := range map[string]string{
		"attempts without an outcome": `SELECT a.segment_no, a.ord FROM attempts a WHERE NOT EXISTS
			(SELECT 1 FROM outcomes o WHERE o.segment_no = a.segment_no AND o.ord = a.ord)`,
		"attempts with several outcomes": `SELECT segment_no, ord FROM outcomes GROUP BY segment_no, ord HAVING COUNT(*) > 1`,
		"requests with several answers": `SELECT a.key FROM attempts a JOIN outcomes o ON o.segment_no = a.segment_no AND o.ord = a.ord
			WHERE o.ending IN ('answered', 'cut', 'refused') GROUP BY a.run_no, a.key HAVING COUNT(*) > 1`,
		"results that belong nowhere": `SELECT segment_no, kind, custom_id FROM strays`,
	} {
		rows, err := s.rows(ctx, query)
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		if len(rows) > 0 {
			return fmt.Errorf("%s: %s", what, strings.Join(rows, "; "))
		}
	}
	return nil
}

// named returns the requests that `status --doubts` lists as perhaps billed twice.
func (s *session) named(ctx context.Context) []string {
	named := []string{}
	for line := range strings.Lines(s.here(ctx, "status", "--doubts").out) {
		if strings.HasPrefix(line, "  lane ") {
			named = append(named, strings.TrimSuffix(line, "\n"))
		}
	}
	slices.Sort(named)
	return named
}

// doubts returns how many live calls may be billed without an answer, as the ledger counts them.
func (s *session) doubts(ctx context.Context) (n int, err error) {
	err = s.look(ctx, func(l *ledger.Ledger) error {
		run, err := l.Reader.FindRun(ctx, "latest", "")
		if err != nil {
			return err
		}
		sum, err := l.Reader.DoubtSum(ctx, run.No)
		n = int(sum.Calls)
		return err
	})
	return n, err
}

// liveCalls counts the live calls that a process began.
func liveCalls(passed []Point) (n int) {
	most := map[string]int{} // the numbers of calls: one that was begun last may be noted first
	for _, p := range passed {
		asks := func(end string) bool { return strings.HasSuffix(p.Call, end) }
		if slices.ContainsFunc([]string{"/responses", "/messages", "/chat/completions", ":generateContent"}, asks) {
			most[p.Call] = max(most[p.Call], p.Nth)
		}
	}
	for _, nth := range most {
		n += nth
	}
	return n
}

// paid holds the providers' bills and the doubts of the ledger against each other, after kills of processes that began so
// many live calls: what was billed is answered or doubted, and what is doubted was sent. A process may be killed in the
// moment between the two: one sync of the log lets many requests go at once.
func (s *session) paid(ctx context.Context, kills, began int) error {
	doubts, err := s.doubts(ctx)
	if err != nil {
		return err
	}
	answered, err := s.rows(ctx, "SELECT o.ord FROM outcomes o JOIN segments g ON g.no = o.segment_no WHERE g.mode = 'live'")
	if err != nil {
		return err
	}
	if most := began - len(answered) + 32*kills; doubts > most {
		return fmt.Errorf("%d live calls are in doubt: %d were begun, %d are answered", doubts, began, len(answered))
	}
	return s.paidOnce(ctx, doubts)
}

// paidOnce holds the providers' bills against the ledger: every request once, but for live ones that were in flight.
func (s *session) paidOnce(ctx context.Context, doubts int) error {
	bill, err := s.billed()
	if err != nil {
		return err
	}
	times := map[string]int{}
	for _, j := range bill.Jobs {
		for _, id := range j.Billed {
			_, key, err := assay.ParseCustomID(id)
			if err != nil {
				return fmt.Errorf("billed for %q: %w", id, err)
			}
			times[key.String()]++
		}
	}
	live := 0
	for _, a := range bill.Live {
		live += a.Count
	}
	asked := 0
	if err := s.look(ctx, func(l *ledger.Ledger) error { asked, err = takeBilled(ctx, l, times, bill); return err }); err != nil {
		return err
	}
	if len(times) > 0 {
		return fmt.Errorf("billed and not in the ledger: %v", times)
	}
	if live < asked || live > asked+doubts {
		return fmt.Errorf("%d live requests were billed %d times, with %d in doubt", asked, live, doubts)
	}
	return nil
}

// takeBilled takes the answers of the ledger off the times that batches were billed, and counts those that were asked for live.
func takeBilled(ctx context.Context, l *ledger.Ledger, times map[string]int, bill simulator.Ledger) (asked int, err error) {
	run, err := l.Reader.FindRun(ctx, "latest", "")
	if err != nil {
		return 0, err
	}
	for a, err := range l.Reader.Answers(ctx, run.No, "", "") {
		if err != nil {
			return 0, err
		}
		g, err := l.Reader.Segment(ctx, a.Segment)
		if err != nil {
			return 0, err
		}
		key := a.Key.String()
		switch n := times[key]; {
		case g.Mode == store.Live && n == 0:
			asked++
		case g.Mode == store.Batch && n == 1:
		default:
			return 0, fmt.Errorf("request %s, which travelled %s, was billed %d times in batches: %v", key, g.Mode, n, bill.Jobs)
		}
		delete(times, key)
	}
	return asked, nil
}

// same is a difference between two ends as an error.
func same(want, got any) error {
	if d := cmp.Diff(want, got); d != "" {
		return errors.New("not the end of an undisturbed run (-want +got):\n" + d)
	}
	return nil
}
