package providertest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/internal/assay"
	"assay/internal/send/provider"
	"assay/internal/simulator"
)

// RunLive holds a vendor's live calls against the contract of provider.Asker.
func RunLive(t *testing.T, s Subject) {
	for name, test := range map[string]func(*testing.T, Subject){
		"a question is answered and billed once":             asked,
		"what is asked and answered survives the way":        liveSurvives,
		"faults are classified, and the reply says the same": liveFaults,
		"a refusal is an answer":                             liveRefusal,
		"a broken reply is never an answer":                  liveBroken,
		"a call that is called off says so":                  liveCalledOff,
		"no redirect takes the key away":                     liveRedirect,
		"models are listed":                                  liveModels,
		"a list of models that fails says so":                liveModelFaults,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, s)
		})
	}
}

// ask asks one question.
func (w *world) ask(ctx context.Context, question string) (provider.Reply, error) {
	w.t.Helper()
	if w.live == nil {
		w.t.Fatalf("%s cannot be asked live", w.s.Kind)
	}
	wire := w.s.catalog().Wire(w.lane, w.s.Kind, assay.ModeLive)
	r, err := w.live.Ask(ctx, w.request("item", question, wire))
	w.clean(err)
	if f := r.Outcome.Fault; f != nil && strings.Contains(f.Error(), secret) {
		w.t.Errorf("an outcome shows the key: %v", f)
	}
	return r, err
}

func asked(t *testing.T, s Subject) {
	w := newWorld(t, s, simulator.Options{})
	r, err := w.ask(context.Background(), "What is it?")
	if err != nil {
		t.Fatal(err)
	}
	o := r.Outcome
	if o.Ending != assay.Answered || o.Text == "" || o.Fault != nil || !o.Usage.Known || o.Usage.Input == 0 || o.Usage.Output == 0 ||
		len(r.Raw) == 0 {
		t.Errorf("reply %+v", r)
	}
	live := w.sim.Ledger().Live
	if len(live) != 1 || live[0].Count != 1 {
		t.Errorf("billed %+v", live)
	}
}

func liveSurvives(t *testing.T, s Subject) {
	w := newWorld(t, s, simulator.Options{Responder: echo{}, Rules: lenient{}})
	w.lane.Params.MaxTokens = 4 << 20
	for _, text := range []string{"two\nlines\r\n\ttab", "separators \u2028 \u2029 \u0085", `quotes " \ /`, "漢字 👩‍👩‍👧",
		strings.Repeat("long ", 1<<18)} {
		r, err := w.ask(context.Background(), text)
		if err != nil || r.Outcome.Text != text {
			t.Errorf("%.40q came back as %.40q, %v", text, r.Outcome.Text, err)
		}
	}
}

func liveFaults(t *testing.T, s Subject) {
	for rule, want := range map[string]assay.FaultClass{
		"429=30s": assay.FaultBusy, "500": assay.FaultBusy, "503": assay.FaultBusy, "529": assay.FaultBusy, "drop": assay.FaultBusy,
		"revoke": assay.FaultDenied, "quota": assay.FaultQuota,
	} {
		w := newWorld(t, s, simulator.Options{}, "ask "+rule)
		r, err := w.ask(context.Background(), "What?")
		if got := w.class(err); got != want {
			t.Errorf("%s: %s: %v", rule, got, err)
		}
		diff(t, provider.FaultOf(err), r.Outcome.Fault)
		if r.Unsent || r.Outcome.Ending != assay.Errored {
			t.Errorf("%s: %+v", rule, r)
		}
		if rule == "429=30s" && provider.FaultOf(err).RetryAfter != 30*time.Second {
			t.Errorf("retry after %v", provider.FaultOf(err).RetryAfter)
		}
	}
	w := newWorld(t, s, simulator.Options{})
	w.lane.Model = "missing-model"
	r, err := w.ask(context.Background(), "What?")
	if class := w.class(err); class != assay.FaultInvalid || r.Outcome.Ending != assay.Rejected {
		t.Errorf("a model that is not there: %s, %v", r.Outcome.Ending, err)
	}
	w.lane.Model = s.Model
	w.seen.next = nowhere{}
	r, err = w.ask(context.Background(), "What?")
	if class := w.class(err); class != assay.FaultBusy || !r.Unsent {
		t.Errorf("a server that is not there: %+v, %v", r, err)
	}
}

func liveRefusal(t *testing.T, s Subject) {
	w := newWorld(t, s, simulator.Options{}, "ask refuse=100%")
	r, err := w.ask(context.Background(), "What?")
	want := assay.Refused
	if s.NoRefusals {
		want = assay.Answered
	}
	if err != nil || r.Outcome.Ending != want {
		t.Errorf("%+v, %v", r.Outcome, err)
	}
}

func liveBroken(t *testing.T, s Subject) {
	for _, rule := range []string{"truncate=50%", "error-200"} {
		w := newWorld(t, s, simulator.Options{}, "ask "+rule)
		r, err := w.ask(context.Background(), "What?")
		if err == nil || r.Outcome.Ending != assay.Errored || r.Outcome.Fault == nil {
			t.Errorf("%s: %+v, %v", rule, r.Outcome, err)
		}
	}
}

func liveCalledOff(t *testing.T, s Subject) {
	w := newWorld(t, s, simulator.Options{}, "ask stall")
	ctx, cancel := context.WithCancelCause(context.Background())
	w.seen.onCall = func() { time.AfterFunc(time.Millisecond, func() { cancel(errCalledOff) }) }
	r, err := w.ask(ctx, "What?")
	if !errors.Is(err, errCalledOff) || r.Unsent || r.Outcome.Ending != assay.Errored {
		t.Errorf("%+v, %v", r.Outcome, err)
	}
}

func liveRedirect(t *testing.T, s Subject) {
	w := newWorld(t, s, simulator.Options{}, "ask redirect=https://thief.example")
	if _, err := w.ask(context.Background(), "What?"); err == nil {
		t.Error("a redirect is no answer")
	}
	diff(t, []string(nil), w.seen.away)
}

func liveModels(t *testing.T, s Subject) {
	w := newWorld(t, s, simulator.Options{})
	m, ok := w.live.(provider.Modeler)
	if !ok {
		t.Fatalf("%s cannot list models", s.Kind)
	}
	names, err := m.Models(context.Background())
	if err != nil || slices.Contains(names, "") {
		t.Errorf("%v, %v", names, err)
	}
	if names == nil {
		return // this provider has no list
	}
	w.open("bad-" + secret)
	if s.Kind == "ollama" {
		return // it knows no keys
	}
	_, err = w.live.(provider.Modeler).Models(context.Background())
	diff(t, assay.FaultDenied, w.class(err))
}
