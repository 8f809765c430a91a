package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

// clientUsage: live calls count from before they leave, with the most that they may cost until they end; batches count by
// who began them.
func clientUsage(t *testing.T, fresh Fresh) {
	b := newBench(t, fresh)
	begin := func(owner string, high *assay.Money) int64 {
		no, err := b.s.Clients.BeginClientCall(b.ctx, store.ClientCall{Owner: owner, Provider: "openai", Model: "m", High: high},
			store.Allowance{})
		b.ok(err)
		return no
	}
	money := func(n int64) *assay.Money { m := assay.Money(n); return &m }
	one, two, three := begin("anna", money(100)), begin("anna", money(200)), begin("anna", nil)
	begin("bert", money(7)) // never ends
	b.ok(b.s.Clients.EndClientCall(b.ctx, one,
		store.ClientCallEnd{Ending: assay.Answered, Usage: assay.Usage{Known: true, Input: 10, Output: 5}, Cost: money(30)}))
	b.ok(b.s.Clients.EndClientCall(b.ctx, two, store.ClientCallEnd{Ending: assay.Rejected, Cost: money(0)}))
	b.ok(b.s.Clients.EndClientCall(b.ctx, three, store.ClientCallEnd{Ending: assay.Answered}))
	if err := b.s.Clients.EndClientCall(b.ctx, one, store.ClientCallEnd{Ending: assay.Errored}); err == nil {
		t.Error("a call ended twice")
	}
	budget := assay.Money(5000)
	for id, by := range map[string]string{"g1": "anna", "g2": "carl"} {
		run, err := b.s.Runs.CreateRun(b.ctx,
			store.NewRun{ID: id, Study: "gateway", Settings: `{"batch":{"client":{"file":"f"}}}`, By: by, Budget: &budget})
		b.ok(err)
		b.ok(b.s.Runs.OpenRun(b.ctx, run.No))
	}
	_, err := b.s.Runs.CreateRun(b.ctx,
		store.NewRun{ID: "g3", Study: "gateway", Settings: `{"batch":{"client":{"file":"f"}}}`, By: "dora", Budget: &budget})
	b.ok(err) // in preparation: nothing of it will be sent
	got, err := b.s.Clients.ClientUsage(b.ctx)
	b.ok(err)
	want := []store.ClientUsage{
		{Owner: "anna", Batches: 1, Calls: 3, Input: 10, Output: 5, Unsaid: 1, Spent: 30, Unpriced: 1, Taken: 5030, NoMost: 1},
		{Owner: "bert", Calls: 1, Open: 1, Taken: 7},
		{Owner: "carl", Batches: 1, Taken: 5000},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("usage (-want +got):\n%s", d)
	}
	// The gateway that bert called was killed: his call ends, and counts with its most.
	for _, c := range []struct {
		before time.Time
		ended  int
	}{{b.clock.now().Add(-time.Hour), 0}, {b.clock.now().Add(time.Second), 1}, {b.clock.now().Add(time.Second), 0}} {
		if n, err := b.s.Clients.EndLostCalls(b.ctx, c.before); err != nil || n != c.ended {
			t.Errorf("%d calls ended, want %d: %v", n, c.ended, err)
		}
	}
	got, err = b.s.Clients.ClientUsage(b.ctx)
	b.ok(err)
	want[1] = store.ClientUsage{Owner: "bert", Calls: 1, Unsaid: 1, Unpriced: 1, Taken: 7}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("usage after a kill (-want +got):\n%s", d)
	}
}

// clientSums: the sums by user are those of the calls, whatever is known of each; a batch whose job waits for its key is counted.
func clientSums(t *testing.T, fresh Fresh) {
	b := newBench(t, fresh)
	money := func(n int64) *assay.Money { m := assay.Money(n); return &m }
	no := int64(1)
	for _, owner := range []string{"anna", "bert"} {
		for _, high := range []*assay.Money{nil, money(50)} {
			for _, cost := range []*assay.Money{nil, money(0), money(7), money(90)} {
				for _, usage := range []assay.Usage{{}, {Known: true, Input: 3 * no, Output: no}} {
					begun, err := b.s.Clients.BeginClientCall(b.ctx,
						store.ClientCall{Owner: owner, Provider: "openai", Model: "m", High: high}, store.Allowance{})
					b.ok(err)
					if no++; no%5 == 0 || owner == "bert" && no%2 == 0 {
						continue // in flight
					}
					b.ok(b.s.Clients.EndClientCall(b.ctx, begun, store.ClientCallEnd{Ending: assay.Answered, Usage: usage, Cost: cost}))
				}
			}
		}
	}
	want := map[string]store.ClientUsage{}
	number := func(v any) (n int64, known bool) { n, known = v.(int64); return n, known }
	b.ok(b.s.Reader.Query(b.ctx, `SELECT owner, ended_ms, high_nano, cost_nano, input_tokens, output_tokens FROM client_calls`,
		func(_ []string, v []any) error {
			u := want[v[0].(string)]
			_, ended := number(v[1])
			high, bounded := number(v[2])
			cost, priced := number(v[3])
			in, said := number(v[4])
			out, _ := number(v[5])
			u.Calls, u.Input, u.Output, u.Spent = u.Calls+1, u.Input+in, u.Output+out, u.Spent+assay.Money(cost)
			switch {
			case !ended:
				u.Open++
			case !said && (!priced || cost > 0):
				u.Unsaid++
			}
			if ended && !priced {
				u.Unpriced++
			}
			switch {
			case priced:
				u.Taken += assay.Money(cost)
			case bounded:
				u.Taken += assay.Money(high)
			default:
				u.NoMost++
			}
			u.Owner = v[0].(string)
			want[u.Owner] = u
			return nil
		}))
	got, err := b.s.Clients.ClientUsage(b.ctx)
	b.ok(err)
	if d := cmp.Diff([]store.ClientUsage{want["anna"], want["bert"]}, got); d != "" || want["anna"] == want["bert"] {
		t.Errorf("usage (-calls +sums):\n%s", d)
	}
	run, err := b.s.Runs.CreateRun(b.ctx,
		store.NewRun{ID: "g1", Study: "gateway", Settings: `{"batch":{"client":{"file":"f"}}}`, By: "carl"})
	b.ok(err)
	b.ok(b.s.Runs.PutLanes(b.ctx,
		[]store.Lane{{Run: run.No, Stage: "answers", Name: "gpt", Provider: "openai", Model: "gpt-5", Params: "{}", Planned: 2}}))
	b.ok(b.s.Runs.OpenRun(b.ctx, run.No))
	b.run = run
	keyless := func() int64 {
		all, err := b.s.Clients.ClientUsage(b.ctx)
		b.ok(err)
		return all[len(all)-1].Keyless
	}
	g := b.staged(store.Batch, 2)
	if n := keyless(); n != 0 {
		t.Errorf("%d batches wait for a key before a job is made", n)
	}
	g = b.to(g, store.Launched)
	for account, want := range map[string]int64{"another": 1, g.Account: 0} {
		b.ok(b.s.Leases.PutWorkerKeys(b.ctx, "worker", []store.WorkerKey{{Run: run.No, Provider: g.Provider, Account: account}}, time.Hour))
		if n := keyless(); n != want {
			t.Errorf("with key %s, %d batches wait for theirs, want %d", account, n, want)
		}
	}
}

// clientBudgets: whatever is taken of a budget is taken in one step, however many take at once; a run's own budget counts while
// it is open, and grows only by what is left.
func clientBudgets(t *testing.T, fresh Fresh) {
	b := newBench(t, fresh)
	money := func(n int64) *assay.Money { m := assay.Money(n); return &m }
	const callers = 12
	failed := make(chan error, callers)
	for range callers {
		go func() {
			_, err := b.s.Clients.BeginClientCall(b.ctx, store.ClientCall{Owner: "anna", High: money(100)},
				store.Allowance{Owner: "anna", Own: money(350)})
			failed <- err
		}()
	}
	refused := 0
	for range callers {
		var over *store.AllowanceError
		switch err := <-failed; {
		case errors.As(err, &over) && errors.Is(err, store.ErrBudget) && over.Left == 50 && over.Need == 100 && over.Most == 350:
			refused++
		case over != nil: // one that came early enough to see less taken would have been let in
			t.Errorf("refused with %+v", over)
		default:
			b.ok(err)
		}
	}
	if refused != callers-3 {
		t.Errorf("%d of %d calls were refused, want all but 3", refused, callers)
	}
	begin := func(id string, budget int64, a store.Allowance) (store.Run, error) {
		run, err := b.s.Runs.CreateRun(b.ctx,
			store.NewRun{ID: id, Study: "gateway", Settings: `{"batch":{"client":{"file":"f"}}}`, By: a.Owner, Budget: money(budget)})
		b.ok(err)
		return run, b.s.Clients.OpenClientRun(b.ctx, run.No, a)
	}
	all := store.Allowance{Owner: "bert", Own: money(1000), All: money(500)} // of which anna's calls hold 300
	if run, err := begin("g1", 201, all); !errors.Is(err, store.ErrBudget) {
		t.Errorf("a run beyond the budget of all is open: %v, %+v", err, run)
	}
	run, err := begin("g2", 80, all)
	b.ok(err)
	for _, want := range []struct {
		raised bool
		budget assay.Money
	}{{true, 160}, {true, 200}, {false, 200}} {
		raised, err := b.s.Clients.RaiseClientBudget(b.ctx, run.No, all)
		b.ok(err)
		now, err := b.s.Reader.Run(b.ctx, run.No)
		b.ok(err)
		if raised != want.raised || *now.Budget != want.budget {
			t.Errorf("raised %v to %s, want %v", raised, now.Budget, want)
		}
	}
	raised, err := b.s.Clients.RaiseClientBudget(b.ctx, run.No, store.Allowance{Owner: "bert"})
	b.ok(err)
	if now, err := b.s.Reader.Run(b.ctx, run.No); err != nil || !raised || now.Budget != nil {
		t.Errorf("without budgets: raised %v to %v (%v)", raised, now.Budget, err)
	}
	if _, err := b.s.Clients.BeginClientCall(b.ctx, store.ClientCall{Owner: "bert"}, all); !errors.Is(err, store.ErrBudget) {
		t.Errorf("a call without a price under a budget: %v", err)
	}
	users := []store.ClientUser{{Owner: "", Budget: money(500)}, {Owner: "anna", Budget: money(350)}, {Owner: "bert"}}
	b.ok(b.s.Clients.PutClientUsers(b.ctx, []store.ClientUser{{Owner: "gone"}}))
	b.ok(b.s.Clients.PutClientUsers(b.ctx, users))
	got, err := b.s.Clients.ClientUsers(b.ctx)
	b.ok(err)
	if d := cmp.Diff(users, got); d != "" {
		t.Errorf("users (-want +got):\n%s", d)
	}
}
