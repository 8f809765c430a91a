package rows

import (
	"context"
	"time"

	"assay/internal/assay"
	"assay/internal/find/results"
	"assay/internal/keep/store"
)

// Shown is one request with its whole life.
type Shown struct {
	At      assay.Coordinates `json:"-"`
	Request *Answer           `json:"request"` // its row, as everywhere
	// the conversation up to the answer; empty: it cannot be made again, or there is none
	Asked    []Message      `json:"asked"`
	AskedWhy string         `json:"asked_unknown,omitempty"` // why it cannot be made again
	Sent     string         `json:"sent"`                    // the bytes that went out; empty: there are none
	SentHow  string         `json:"sent_from"`
	Raw      string         `json:"raw,omitempty"` // the bytes that the answer was read from, where they are asked for
	Judged   []Judged       `json:"judged,omitempty"`
	Attempts []Attempt      `json:"attempts"`
	Verdicts []JudgeVerdict `json:"verdicts"`
	Events   []Happening    `json:"events"`
}

// Message is one message of a conversation.
type Message struct {
	Role string `json:"role"`
	Text string `json:"text"`
}

// Judged is an answer that a judge's request reads.
type Judged struct {
	Key  string `json:"key"`
	Lane string `json:"lane"`
	Item string `json:"item"`
	Text string `json:"text"`
}

// Attempt is one sending of the request.
type Attempt struct {
	Attempt  int64      `json:"attempt"`
	Mode     string     `json:"mode"`
	Provider string     `json:"provider"`
	Model    string     `json:"model"`
	Segment  int64      `json:"segment"`
	State    string     `json:"segment_state"`
	Job      string     `json:"job"`
	Ending   string     `json:"ending"` // empty: in flight
	Fault    string     `json:"fault,omitempty"`
	Surplus  bool       `json:"paid_twice,omitempty"`
	Cost     *float64   `json:"cost_usd"`
	Launched *time.Time `json:"launched"`
	Settled  *time.Time `json:"settled"`
}

// JudgeVerdict is a verdict with the judge's own words.
type JudgeVerdict struct {
	Verdict
	Words string `json:"reply"` // what the judge wrote, whole; empty: a rule, a program or a person, or the answer is not there
}

// Happening is a line of the history of the segments that the request travelled in.
type Happening struct {
	At      time.Time `json:"at"`
	Segment int64     `json:"segment"`
	Kind    string    `json:"kind"`
	Text    string    `json:"text"`
}

// Show reads one request with its whole life.
func Show(ctx context.Context, r *results.Reader, run store.Run, key assay.Key) (*Shown, error) {
	a, err := r.Ledger.AnswerTo(ctx, run.No, key)
	if err != nil {
		return nil, err
	}
	rows, err := OfPage(ctx, r, run)
	if err != nil {
		return nil, err
	}
	entries, err := rows.Entries(ctx, []store.Answer{a})
	if err != nil {
		return nil, err
	}
	s := &Shown{At: a.At, Asked: []Message{}, Attempts: []Attempt{}, Verdicts: []JudgeVerdict{}, Events: []Happening{}}
	if s.Request, err = rows.Answer(ctx, a, entries[0].Verdicts); err != nil {
		return nil, err
	}
	if s.Asked, err = asked(ctx, r, run, a); err != nil {
		s.AskedWhy = notAgain + err.Error()
	}
	if s.Sent, s.SentHow, err = sentBytes(ctx, r, run, a); err != nil {
		return nil, err
	}
	if s.Judged, err = judged(ctx, r, run, a, entries[0].Verdicts); err != nil {
		return nil, err
	}
	for i := range entries[0].Verdicts {
		v, err := rows.withWords(ctx, &entries[0].Verdicts[i])
		if err != nil {
			return nil, err
		}
		s.Verdicts = append(s.Verdicts, v)
	}
	return s, history(ctx, r, run, a.At.Ref(), s)
}

// asked makes the conversation again; none where there was none. An error is the reason why it cannot be made.
func asked(ctx context.Context, r *results.Reader, run store.Run, a store.Answer) ([]Message, error) {
	out := []Message{}
	if a.Mode == store.Imported {
		return out, nil
	}
	prompts, err := Prompts(ctx, r, run, []assay.Coordinates{a.At})
	if err != nil || len(prompts) != 1 {
		return out, err
	}
	for _, turn := range said(&prompts[0]) {
		out = append(out, Message{turn.Role, turn.Text})
	}
	return out, nil
}

// AskedOf returns the conversation before the answer of a row; none where there was none. Where it cannot be made
// again, the second result gives the reason.
func (t *Reader) AskedOf(ctx context.Context, row *Answer) (turns []Message, why string, err error) {
	key, err := assay.ParseKey(row.Key)
	if err != nil {
		return nil, "", err
	}
	a, err := t.Ledger.AnswerTo(ctx, t.Run.No, key)
	if err != nil {
		return nil, "", err
	}
	if turns, err = asked(ctx, t.Reader, t.Run, a); err != nil {
		return nil, notAgain + err.Error(), ctx.Err()
	}
	return turns, "", nil
}

// judged returns the answers that a judge's request reads.
func judged(ctx context.Context, r *results.Reader, run store.Run, a store.Answer, verdicts []store.Verdict) ([]Judged, error) {
	if a.At.Judge == "" {
		return nil, nil
	}
	var refs []assay.Ref
	for _, v := range verdicts {
		refs = append(refs, v.Answers()...)
	}
	if len(verdicts) == 0 && a.At.Source != "" {
		refs = []assay.Ref{a.At.Subject().Ref()}
		if a.At.Against != "" {
			refs = append(refs, a.At.Opponent().Ref())
		}
	}
	found, err := r.Ledger.AnswersTo(ctx, run.No, refs)
	if err != nil {
		return nil, err
	}
	var out []Judged
	for _, ref := range refs {
		one, ok := found[ref.Key]
		if !ok {
			continue
		}
		delete(found, ref.Key)
		if one, err = r.Scripts.Whole(ctx, run, one); err != nil {
			return nil, err
		}
		out = append(out, Judged{Key: ref.Key.String(), Lane: one.Lane, Item: one.At.Item, Text: one.Outcome.Text})
	}
	return out, nil
}

// withWords returns a verdict with what its judge wrote.
func (t *Reader) withWords(ctx context.Context, v *store.Verdict) (JudgeVerdict, error) {
	out := JudgeVerdict{Verdict: *t.Verdict(v)}
	if v.Segment == 0 {
		return out, nil
	}
	at := v.At
	at.Again, at.By = v.Again, v.By
	found, err := t.Ledger.AnswersTo(ctx, t.Run.No, []assay.Ref{at.Ref()})
	if err != nil {
		return out, err
	}
	reply, ok := found[at.Key()]
	if !ok || !reply.Ended {
		return out, nil
	}
	if reply, err = t.whole(ctx, reply); err != nil {
		return out, err
	}
	out.Words = reply.Outcome.Text
	return out, nil
}

// history adds every sending of the request, and what happened to the segments it travelled in.
func history(ctx context.Context, r *results.Reader, run store.Run, of assay.Ref, s *Shown) error {
	tries, err := r.Pages.Tries(ctx, run.No, of)
	if err != nil {
		return err
	}
	var segments []int64
	for _, a := range tries {
		g, err := r.Ledger.Segment(ctx, a.Segment)
		if err != nil {
			return err
		}
		segments = append(segments, g.No)
		t := Attempt{
			Attempt: a.Try, Mode: string(a.Mode), Provider: g.Provider, Model: g.Model, Segment: g.No, State: string(g.State), Job: g.Job,
			Ending: string(a.Outcome.Ending), Surplus: a.Surplus, Launched: assay.KnownTime(g.Launched),
			Settled: assay.KnownTime(a.Settled),
		}
		if a.Outcome.Fault != nil {
			t.Fault = a.Outcome.Fault.Error()
		}
		if a.Cost != nil {
			usd := a.Cost.Float()
			t.Cost = &usd
		}
		s.Attempts = append(s.Attempts, t)
	}
	events, err := r.Pages.SegmentEvents(ctx, run.No, segments)
	for _, e := range events {
		s.Events = append(s.Events, Happening{e.At, e.Segment, e.Kind, e.Text})
	}
	return err
}
