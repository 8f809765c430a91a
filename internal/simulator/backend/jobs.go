package backend

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"time"

	"assay/internal/simulator/dice"
	"assay/internal/simulator/rules"
	"assay/internal/simulator/spill"
)

// Draft is a job before the provider has looked at its lines.
type Draft struct {
	ID       string                         // chosen by the client; "": by NewID
	Key      string                         // what the registry calls it; "": by its id
	NewID    func(uint64) string            // makes an id of the job's number
	Format   Format                         // of its lines and results
	Data     spill.Blob                     // its lines
	Input    string                         // id of the file it is made from
	Name     string                         // what the client calls it
	Meta     map[string]string              // the client's own keys and values
	Endpoint string                         // that its requests are for
	Model    string                         // that answers all of them; "": each line names its own
	Extra    any                            // what only its vendor needs
	Window   time.Duration                  // until it expires; 0: the vendor's
	Outputs  func(*Job) []string            // ids of its result files
	InOrder  bool                           // results in the order of the requests
	Strict   func(*Survey) *rules.Rejection // what makes the provider refuse at once
	Late     func(*Survey)                  // what else it finds wrong later
	Missing  string                         // the input file that is not there, where that is found out later
}

// forever is longer than any test.
const forever = 100 * 365 * 24 * time.Hour

// tailPart is how many times longer the queue takes than handing out results.
const tailPart = 10

// Launch makes a job of a draft. It answers the call itself when the provider refuses.
func (c *Call) Launch(d Draft) (*Job, bool) {
	j, rej, err := c.submit(d)
	return j, c.Good(rej, err)
}

// submit makes a job of a draft and keeps it. What is wrong with single requests comes out when they run; what is wrong with
// the whole comes out late too, unless the draft is strict.
func (c *Call) submit(d Draft) (*Job, *rules.Rejection, error) {
	o := c.s.opts
	n := c.s.newID(c.Vendor.Name, c.Now)
	j := &Job{
		Vendor: c.Vendor, Account: c.Account, Number: n, Made: c.Now, Format: d.Format, Input: d.Input, Name: d.Name,
		key: d.Key, Meta: d.Meta, Endpoint: d.Endpoint, Model: d.Model, Extra: d.Extra,
		Validation: o.Queue / 2, Queue: o.Queue, tail: o.Queue / tailPart, rate: o.Rate,
		Window: cmp.Or(o.Window, d.Window, c.Vendor.Window),
	}
	if j.ID = d.ID; j.ID == "" {
		j.ID = d.NewID(n)
	}
	if e, ok := c.Effect("fail-lines"); ok {
		j.troubles = e.Share
	}
	if _, ok := c.Effect("fail"); ok && c.Vendor.LineByLine {
		j.troubles = 1
	}
	if e, ok := c.Effect("refuse"); ok {
		j.refusals = e.Share
	}
	sv, err := c.s.survey(j, d.Data)
	if err != nil {
		return nil, nil, fmt.Errorf("look at the lines of job %s: %w", j.ID, err)
	}
	if d.Strict != nil {
		if rej := d.Strict(sv); rej != nil {
			return nil, rej, nil
		}
	}
	if d.Late != nil {
		d.Late(sv)
	}
	if d.Missing != "" {
		sv.Issues = []Issue{{Rejection: rules.Rejection{Status: http.StatusBadRequest, Code: "invalid_request", Param: "file_id",
			Message: "Cannot find file " + d.Missing + "."}}}
	}
	if c.Vendor.FirstBad && len(sv.Issues) > 1 {
		sv.Issues = sv.Issues[:1]
	}
	j.take(sv, n^o.Seed)
	if j.warm = c.s.primed.known(j, c.Now); !c.Vendor.Caches { // by marks alone, a batch reads nothing of what it writes
		j.prefixes = nil
	}
	j.Order.Identity = d.InOrder
	c.spoil(j)
	j.place(sv)
	var outputs []string
	if d.Outputs != nil {
		outputs = d.Outputs(j)
	}
	return j, c.s.keep(j, outputs), nil
}

// take moves what was found out about the lines into the job.
func (j *Job) take(sv *Survey, seed uint64) {
	j.Lines, j.Failure, j.tokens, j.prefixes = sv.Lines, sv.Issues, sv.Tokens, sv.prefixes
	j.Model = cmp.Or(j.Model, sv.model)
	j.runnable = j.Lines.Len
	j.Order = dice.NewPermutation(j.Lines.Len, dice.Mix(seed))
}

// place turns line numbers of bad requests into places in the job's order.
func (j *Job) place(sv *Survey) {
	j.bad = sv.bad
	for i, line := range j.bad {
		j.bad[i] = uint32(j.Order.Place(int(line)))
	}
	slices.Sort(j.bad)
}

// spoil applies the rules that struck the job's making.
func (c *Call) spoil(j *Job) {
	for _, e := range c.effects {
		switch e.Name {
		case "expire":
			j.runnable = min(int(float64(j.Lines.Len)*e.Share), max(j.Lines.Len-1, 0))
		case "stuck":
			j.Queue += cmp.Or(e.Duration, forever)
		case "fail":
			if c.Vendor.LineByLine {
				continue
			}
			j.Failure = []Issue{{Rejection: rules.Rejection{Status: http.StatusBadRequest, Code: e.Word,
				Message: "The batch was rejected: " + e.Word}}}
		case "in-order":
			j.Order.Identity = true
		}
	}
}

// scoped returns an id as the registries keep it: providers let every account choose its own names.
func scoped(vendor, account, id string) string { return vendor + " " + account + " " + id }

// keep registers a job and its result files, unless its id is taken.
func (s *Service) keep(j *Job, outputs []string) *rules.Rejection {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := scoped(j.Vendor.Name, j.Account, cmp.Or(j.key, j.ID))
	if _, taken := s.jobByID[k]; taken {
		return &rules.Rejection{Status: http.StatusConflict, Code: "already_exists", Message: "There is already a job named " + j.ID + "."}
	}
	s.jobByID[k] = j
	s.jobs = append(s.jobs, j)
	for i, id := range outputs {
		s.outputs[scoped(j.Vendor.Name, j.Account, id)] = Output{Job: j, File: i}
	}
	return nil
}

// Job returns a job of the caller's account. Where there is none it rejects the call and returns nil.
func (c *Call) Job(id string) *Job {
	c.s.mu.Lock()
	j := c.s.jobByID[scoped(c.Vendor.Name, c.Account, id)]
	c.s.mu.Unlock()
	if j == nil || j.isGone() || c.hides(j) {
		c.Fail(rules.NotFound("No batch found with id '%s'.", id))
		return nil
	}
	return j
}

// hides reports whether a rule keeps a young job out of sight.
func (c *Call) hides(j *Job) bool {
	e, ok := c.Effect("hide")
	return ok && c.Now.Sub(j.Made) < e.Duration
}

func (j *Job) isGone() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.gone
}

// Remove makes the job unfindable.
func (j *Job) Remove() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.gone = true
}

// Jobs lists the caller's jobs, newest first.
func (c *Call) Jobs() []*Job {
	c.s.mu.Lock()
	all := slices.Clone(c.s.jobs)
	c.s.mu.Unlock()
	slices.Reverse(all)
	return slices.DeleteFunc(all, func(j *Job) bool {
		return j.Vendor.Name != c.Vendor.Name || j.Account != c.Account || j.isGone() || c.hides(j)
	})
}

// OverQueued reports whether the prompt tokens of the account's unfinished jobs for a model, and these, exceed the limit.
func (c *Call) OverQueued(model string, tokens int64) bool {
	limit := c.s.opts.Limits.Enqueued
	if limit == 0 {
		return false
	}
	for _, j := range c.Jobs() {
		if j.Model == model && !j.At(c.Now).Over() {
			tokens += j.tokens
		}
	}
	return tokens > limit
}

// Page returns at most limit entries of a list, from the one after an id on, and reports whether more follow.
func Page[T any](all []T, after string, limit int, id func(T) string) (part []T, more bool) {
	if after != "" {
		at := slices.IndexFunc(all, func(t T) bool { return id(t) == after })
		all = all[at+1:]
	}
	if len(all) > limit {
		return all[:limit], true
	}
	return all, false
}

// Cancel stops a job and reports whether there was something to stop; a rule may make it slow.
func (c *Call) Cancel(j *Job) bool {
	var lag time.Duration
	if e, ok := c.Effect("slow-cancel"); ok {
		lag = e.Duration
	}
	return j.stop(c.Now, lag)
}
