package runs_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"sync"
	"time"

	"assay/internal/assay"
	"assay/internal/send/engine"
	"assay/internal/send/provider"
	"assay/internal/study/catalog"
)

// clock is a time that tests move: each sleep moves it.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) Sleep(ctx context.Context, d time.Duration) error {
	c.to(c.Now().Add(d))
	return ctx.Err()
}

func (c *clock) to(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at.After(c.at) {
		c.at = at
	}
}

// fakeProvider is a provider in memory that bills what it is asked.
type fakeProvider struct {
	mu      sync.Mutex
	clock   *clock
	stamped bool
	jobs    []*fakeJob
	billed  map[string]int // batch: key and nonce
	asked   map[string]int // live: the last user message
	takes   time.Duration  // how long a job takes
	wobble  func(call string, n int) error
	launch  func(n int) provider.LaunchStatus // nil: accepted
	// nil: an answer; how: "" bills a line, "missing", "expired", "free" (a line that is not billed)
	answer   func(key assay.Key, body string) (assay.Outcome, string)
	ends     func(j *fakeJob) provider.State
	problems func(j *fakeJob) (*assay.Fault, []provider.LineProblem)
	live     func(prompt string, n int) (assay.Outcome, error)
	calls    map[string]int
	limits   catalog.Limits
	visible  time.Duration // how long a new job is missing from lists
	removed  []string
	fenced   map[string]bool                   // what was deleted, by handle
	refuse   func(p provider.BatchInput) error // looks at what is uploaded; nil: nothing is refused
	slow     []slowCreate                      // creates that have not arrived yet
	mixed    bool                              // the list has the oldest job first, and promises no order
	silent   bool                              // no job has counts
	mistakes int                               // looks at a job that are answered with another one
	spoil    func(lines [][]byte) [][]byte     // nil: results are as they are
	room     int                               // requests that may wait in jobs; 0: any number
}

// slowCreate is a create call that arrives later than anyone waits for it.
type slowCreate struct {
	at     time.Time
	input  provider.BatchInput
	handle provider.Handle
}

type fakeJob struct {
	id        string
	stamp     provider.Stamp
	made      time.Time
	ends      time.Time
	cancelled bool
	lines     [][]byte
	count     int
	state     provider.State
	counts    provider.Counts
	fetches   int
	done      bool
	full      bool     // it is refused: too much waits
	late      [][]byte // shown after the first look at an ended job
	missing   [][]byte // shown by nothing
}

func newFake(c *clock) *fakeProvider {
	return &fakeProvider{clock: c, stamped: true, billed: map[string]int{}, asked: map[string]int{}, calls: map[string]int{},
		fenced: map[string]bool{}, takes: time.Hour, limits: catalog.Limits{Requests: 100, Bytes: 1 << 20}}
}

var errDead = errors.New("the process is dead")

// call counts a call and lets the test break it.
func (h *fakeProvider) call(name string) error {
	h.calls[name]++
	h.arrive()
	if h.wobble != nil {
		return h.wobble(name, h.calls[name])
	}
	return nil
}

func (h *fakeProvider) Limits() catalog.Limits { return h.limits }

func (h *fakeProvider) Prepare(_ context.Context, p provider.BatchInput, hd provider.Handle) (provider.Handle, provider.Readiness, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.call("prepare"); err != nil {
		return hd, "", err
	}
	if h.refuse != nil {
		if err := h.refuse(p); err != nil {
			return hd, "", err
		}
	}
	if hd == "" {
		hd = provider.Handle(fmt.Sprintf("%q", fmt.Sprintf("file-%s-%d", p.Stamp.Segment, h.calls["prepare"])))
		return hd, provider.Again, nil
	}
	return hd, provider.Ready, nil
}

func (h *fakeProvider) Fence(_ context.Context, hd provider.Handle) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.call("fence"); err != nil {
		return err
	}
	h.fenced[string(hd)] = true
	return nil
}

// arrive makes the jobs of slow create calls whose time has come.
func (h *fakeProvider) arrive() {
	slow := h.slow
	h.slow = nil
	for _, c := range slow {
		if h.clock.Now().Before(c.at) {
			h.slow = append(h.slow, c)
		} else if _, err := h.make(c.input, c.handle); err != nil {
			panic(err)
		}
	}
}

// make makes a job. One that names a file which is gone fails.
func (h *fakeProvider) make(p provider.BatchInput, hd provider.Handle) (*fakeJob, error) {
	r, err := p.Body.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	body, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	j := &fakeJob{id: fmt.Sprintf("job%d", len(h.jobs)+1), stamp: p.Stamp, made: h.clock.Now(), ends: h.clock.Now().Add(h.takes)}
	j.lines = bytes.Split(bytes.TrimSpace(body), []byte("\n"))
	j.count = len(j.lines)
	if h.fenced[string(hd)] {
		j.done, j.state, j.lines = true, provider.StateFailed, nil
	}
	h.enqueue(j)
	return j, nil
}

func (h *fakeProvider) Launch(_ context.Context, p provider.BatchInput, hd provider.Handle) provider.Receipt {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.call("launch"); err != nil {
		return provider.Receipt{Status: provider.Refused, Err: err}
	}
	fate := provider.Accepted
	if h.launch != nil {
		fate = h.launch(h.calls["launch"])
	}
	if fate == provider.Refused {
		return provider.Receipt{Status: fate, Err: &assay.Fault{Class: assay.FaultBusy, Status: 429}}
	}
	if fate == "vanished" { // never arrived
		return provider.Receipt{Status: provider.Unknown, Err: &assay.Fault{Class: assay.FaultUnknown, Message: "connection reset"}}
	}
	if fate == "slow" { // arrives in two hours
		h.slow = append(h.slow, slowCreate{h.clock.Now().Add(2 * time.Hour), p, hd})
		return provider.Receipt{Status: provider.Unknown, Err: &assay.Fault{Class: assay.FaultUnknown, Message: "timeout"}}
	}
	j, err := h.make(p, hd)
	if err != nil {
		return provider.Receipt{Status: provider.Refused, Err: err}
	}
	if fate == provider.Unknown {
		return provider.Receipt{Status: fate, Err: &assay.Fault{Class: assay.FaultUnknown, Message: "timeout"}}
	}
	return provider.Receipt{Status: fate, Job: j.id}
}

// enqueue takes a job. One for which there is no room fails at once.
func (h *fakeProvider) enqueue(j *fakeJob) {
	waiting := j.count
	for _, other := range h.jobs {
		if !other.done {
			waiting += other.count
		}
	}
	if h.room > 0 && waiting > h.room {
		j.full, j.ends = true, h.clock.Now()
	}
	h.jobs = append(h.jobs, j)
}

// work is done when the job's time has come: results are made once, and billed.
func (h *fakeProvider) finish(j *fakeJob) {
	if j.done || h.clock.Now().Before(j.ends) && !j.cancelled {
		return
	}
	j.done, j.state = true, provider.StateEnded
	if j.cancelled {
		j.state = provider.StateCancelled
	}
	if h.ends != nil {
		j.state = h.ends(j)
	}
	if j.state == provider.StateFailed {
		j.lines = nil
		return
	}
	var out [][]byte
	for i, line := range j.lines {
		if j.cancelled && i >= len(j.lines)/2 {
			j.counts.Cancelled++
			continue
		}
		var in struct {
			ID   string          `json:"custom_id"`
			Body json.RawMessage `json:"body"`
		}
		if err := json.Unmarshal(line, &in); err != nil {
			panic(err)
		}
		_, key, err := assay.ParseCustomID(in.ID)
		if err != nil {
			panic(err)
		}
		o, how := assay.Outcome{Ending: assay.Answered, Text: "answer to " + lastUser(in.Body), Usage: assay.Usage{Known: true, Input: 10,
			Output: 10}}, ""
		if h.answer != nil {
			o, how = h.answer(key, string(in.Body))
		}
		text, _ := json.Marshal(fakeLine{ID: in.ID, Outcome: o})
		switch how {
		case "expired":
			j.counts.Expired++
			continue
		case "missing":
			j.counts.Succeeded++
			h.billed[key.String()]++
			j.missing = append(j.missing, text)
			continue
		case "late":
			h.billed[key.String()]++
			j.late = append(j.late, text)
			continue
		case "free":
			j.counts.Failed++
		default:
			j.counts.Succeeded++
			h.billed[key.String()]++
		}
		out = append(out, text)
	}
	slices.Reverse(out) // never in order
	if h.spoil != nil {
		out = h.spoil(out)
	}
	j.lines, j.counts.Known, j.counts.Total = out, true, int64(j.count)
}

type fakeLine struct {
	ID      string
	Outcome assay.Outcome
}

func lastUser(body []byte) string {
	var b struct {
		Messages []struct{ Role, Content string } `json:"messages"`
	}
	if err := json.Unmarshal(body, &b); err != nil || len(b.Messages) == 0 {
		return "?"
	}
	return b.Messages[len(b.Messages)-1].Content
}

func (h *fakeProvider) find(id string) *fakeJob {
	for _, j := range h.jobs {
		if j.id == id {
			return j
		}
	}
	return nil
}

func (h *fakeProvider) status(j *fakeJob) provider.Status {
	h.finish(j)
	st := provider.Status{Job: j.id, State: provider.StateRunning, Word: "running", Created: j.made, Stamp: j.stamp}
	if !h.stamped {
		st.Stamp = provider.Stamp{}
	}
	if j.done {
		st.State, st.Word, st.Counts, st.CollectBefore = j.state, string(j.state), j.counts, j.made.Add(30*24*time.Hour)
		if h.silent {
			st.Counts = provider.Counts{}
		}
		if len(j.lines) > 0 {
			st.Parts = []provider.Part{{Name: "output", Kind: provider.PartResults}}
		}
		if j.state == provider.StateFailed {
			st.Fault = &assay.Fault{Class: assay.FaultInvalid, Message: "it failed"}
			if h.problems != nil {
				st.Fault, st.Problems = h.problems(j)
			}
		}
	}
	return st
}

func (h *fakeProvider) Check(_ context.Context, job provider.Job) (provider.Status, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.call("check"); err != nil {
		return provider.Status{}, err
	}
	j := h.find(job.ID)
	if j == nil {
		return provider.Status{}, &assay.Fault{Class: assay.FaultGone, Status: 404}
	}
	if h.mistakes > 0 {
		h.mistakes--
		return provider.Status{Job: "another", State: provider.StateFailed, Fault: &assay.Fault{Class: assay.FaultInvalid}}, nil
	}
	return h.status(j), nil
}

func (h *fakeProvider) Fetch(_ context.Context, job provider.Job, _ provider.Part, into provider.Sink) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.call("fetch"); err != nil {
		return err
	}
	j := h.find(job.ID)
	if j == nil {
		return &assay.Fault{Class: assay.FaultGone, Status: 404}
	}
	if err := into.Begin(0, ""); err != nil {
		return err
	}
	for _, line := range j.lines {
		if _, err := into.Write(append(slices.Clone(line), '\n')); err != nil {
			return err
		}
	}
	if j.fetches++; len(j.late) > 0 && j.fetches > 0 {
		j.lines = append(j.lines, j.late...)
		j.counts.Succeeded += int64(len(j.late))
		j.late = nil
	}
	return nil
}

func (h *fakeProvider) Decode(_ provider.Job, _ provider.Part, r io.Reader) iter.Seq2[provider.Line, error] {
	return func(yield func(provider.Line, error) bool) {
		sc := bufio.NewScanner(r)
		off := int64(0)
		for sc.Scan() {
			var l fakeLine
			line := provider.Line{Offset: off, Length: int64(len(sc.Bytes()))}
			if json.Unmarshal(sc.Bytes(), &l) == nil {
				line.CustomID, line.Outcome = l.ID, l.Outcome
			}
			off += line.Length + 1
			if !yield(line, nil) {
				return
			}
		}
		if sc.Err() != nil {
			yield(provider.Line{}, sc.Err())
		}
	}
}

func (h *fakeProvider) Cancel(_ context.Context, job provider.Job) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.call("cancel"); err != nil {
		return err
	}
	if j := h.find(job.ID); j != nil && !j.done {
		j.cancelled = true
	}
	return nil
}

func (h *fakeProvider) Stamped() bool { return h.stamped }

func (h *fakeProvider) Cursor(context.Context) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.call("cursor"); err != nil {
		return "", err
	}
	if len(h.jobs) == 0 {
		return "", nil
	}
	return h.jobs[len(h.jobs)-1].id, nil
}

func (h *fakeProvider) Find(_ context.Context, s provider.Search) (provider.Found, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.call("find"); err != nil {
		return provider.Found{}, err
	}
	t := provider.Trail{Sorted: !h.mixed, Jobs: h.list(), Match: func(st provider.Status) bool {
		if h.stamped {
			return st.Stamp.Same(s.Stamp)
		}
		return h.find(st.Job).count == s.Count
	}}
	if h.stamped {
		return t.Stamped(s)
	}
	return t.Unstamped(s, func(st provider.Status) (bool, error) {
		return bytes.Contains(bytes.Join(h.find(st.Job).lines, nil), []byte("a"+string(s.Nonce)+"-")), nil
	})
}

// list is newest first, without what is too new to be seen.
func (h *fakeProvider) list() iter.Seq2[provider.Status, error] {
	return func(yield func(provider.Status, error) bool) {
		jobs := slices.Clone(h.jobs)
		if !h.mixed {
			slices.Reverse(jobs)
		}
		for _, j := range jobs {
			if h.clock.Now().Sub(j.made) < h.visible {
				continue
			}
			if !yield(h.status(j), nil) {
				return
			}
		}
	}
}

func (h *fakeProvider) List(context.Context) iter.Seq2[provider.Status, error] {
	return func(yield func(provider.Status, error) bool) {
		h.mu.Lock()
		defer h.mu.Unlock()
		if err := h.call("list"); err != nil {
			yield(provider.Status{}, err)
			return
		}
		h.list()(yield)
	}
}

func (h *fakeProvider) Ask(_ context.Context, r *assay.Request) (provider.Reply, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.call("ask"); err != nil {
		return provider.Reply{Outcome: assay.Outcome{Ending: assay.Errored, Fault: provider.FaultOf(err)}}, err
	}
	prompt := r.Prompt.Messages[len(r.Prompt.Messages)-1].Text
	o := assay.Outcome{Ending: assay.Answered, Text: "live answer to " + prompt, Usage: assay.Usage{Known: true, Input: 10, Output: 10}}
	if h.live != nil {
		var err error
		if o, err = h.live(prompt, h.asked[prompt]+1); err != nil {
			return provider.Reply{Outcome: o, Unsent: false}, err
		}
	}
	h.asked[r.Lane.Name+" "+prompt]++
	raw := fmt.Appendf(nil, `{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":%q}}]}`, o.Text)
	return provider.Reply{Outcome: o, Raw: raw}, nil
}

// inline is a provider to which nothing is uploaded: a create call carries all there is, and cannot be called back.
type inline struct {
	provider.Provider
	provider.Finder
	provider.Lister
	provider.Canceler
	provider.Asker
}

func (w *world) inline() {
	access, _ := w.e.Accounts("fake")
	access.Batch = inline{w.fake, w.fake, w.fake, w.fake, w.fake}
	w.e.Accounts = func(string) (engine.Access, error) { return access, nil }
}
