package simulator

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// draft is a job before the provider has looked at its lines.
type draft struct {
	id       string // chosen by the client; "": ours
	key      string // what the registry calls it; "": by its id
	newID    func(uint64) string
	format   format
	data     blob
	input    string
	name     string
	meta     map[string]string
	endpoint string
	model    string
	extra    any
	window   time.Duration
	outputs  func(*job) []string      // ids of its result files
	inOrder  bool                     // results in the order of the requests
	strict   func(*survey) *Rejection // what makes the provider refuse at once
	late     func(*survey)            // what else it finds wrong later
}

// forever is longer than any test.
const forever = 100 * 365 * 24 * time.Hour

// tailShare is the part of the queue time that handing out results takes.
const tailShare = 10

// launch makes a job of a draft. It answers the call itself when the provider refuses.
func (c *call) launch(d draft) (*job, bool) {
	j, rej, err := c.submit(d)
	return j, c.good(rej, err)
}

// submit makes a job of a draft and keeps it. What is wrong with single requests comes out when they run; what is wrong with
// the whole comes out late too, unless the draft's strict says otherwise.
func (c *call) submit(d draft) (*job, *Rejection, error) {
	o := c.s.opts
	n := c.s.newID(c.v.name, c.now)
	j := &job{
		vendor: c.v, account: c.account, number: n, made: c.now, format: d.format, input: d.input, name: d.name,
		key: d.key, meta: d.meta, endpoint: d.endpoint, model: d.model, extra: d.extra,
		valid: o.Queue / 2, queue: o.Queue, tail: o.Queue / tailShare, rate: o.Rate, window: cmp.Or(o.Window, d.window, c.v.window),
	}
	if j.id = d.id; j.id == "" {
		j.id = d.newID(n)
	}
	if e, ok := c.effect("fail-lines"); ok {
		j.troubles = e.share
	}
	if _, ok := c.effect("fail"); ok && c.v.lineByLine {
		j.troubles = 1
	}
	if e, ok := c.effect("refuse"); ok {
		j.refusals = e.share
	}
	sv, err := c.s.survey(j, d.data)
	if err != nil {
		return nil, nil, fmt.Errorf("look at the lines of job %s: %w", j.id, err)
	}
	if d.strict != nil {
		if rej := d.strict(sv); rej != nil {
			return nil, rej, nil
		}
	}
	if d.late != nil {
		d.late(sv)
	}
	j.take(sv, n^o.Seed)
	j.order.same = d.inOrder
	c.spoil(j)
	j.place(sv)
	var outputs []string
	if d.outputs != nil {
		outputs = d.outputs(j)
	}
	return j, c.s.keep(j, outputs), nil
}

// take moves what was found out about the lines into the job.
func (j *job) take(sv *survey, seed uint64) {
	j.lines, j.failure, j.tokens, j.prefixes = sv.lines, sv.issues, sv.tokens, sv.prefixes
	j.model = cmp.Or(j.model, sv.model)
	j.most = j.lines.n
	j.order = newPermutation(j.lines.n, mix(seed))
}

// place turns line numbers of bad requests into places in the job's order.
func (j *job) place(sv *survey) {
	j.bad = sv.bad
	for i, line := range j.bad {
		j.bad[i] = uint32(j.order.place(int(line)))
	}
	slices.Sort(j.bad)
}

// spoil applies the rules that struck the job's making.
func (c *call) spoil(j *job) {
	for _, e := range c.effects {
		switch e.name {
		case "expire":
			j.most = min(int(float64(j.lines.n)*e.share), max(j.lines.n-1, 0))
		case "stuck":
			j.queue += cmp.Or(e.d, forever)
		case "fail":
			if c.v.lineByLine {
				continue
			}
			j.failure = []issue{{Rejection: Rejection{Status: http.StatusBadRequest, Code: e.word, Message: "The batch was rejected: " + e.word}}}
		case "in-order":
			j.order.same = true
		}
	}
}

// scoped is an id as the registries keep it: providers let every account choose its own names.
func scoped(vendor, account, id string) string { return vendor + " " + account + " " + id }

// keep registers a job and its result files, unless its id is taken.
func (s *Server) keep(j *job, outputs []string) *Rejection {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := scoped(j.vendor.name, j.account, cmp.Or(j.key, j.id))
	if _, taken := s.jobByID[k]; taken {
		return &Rejection{Status: http.StatusConflict, Code: "already_exists", Message: "There is already a job named " + j.id + "."}
	}
	s.jobByID[k] = j
	s.jobs = append(s.jobs, j)
	for i, id := range outputs {
		s.outputs[scoped(j.vendor.name, j.account, id)] = output{job: j, file: i}
	}
	return nil
}

// job finds a job of the caller's account, or says that there is none.
func (c *call) job(id string) *job {
	c.s.mu.Lock()
	j := c.s.jobByID[scoped(c.v.name, c.account, id)]
	c.s.mu.Unlock()
	if j == nil || j.isGone() || c.hides(j) {
		c.fail(notFound("No batch found with id '%s'.", id))
		return nil
	}
	return j
}

// hides tells whether a rule keeps a young job out of sight.
func (c *call) hides(j *job) bool {
	e, ok := c.effect("hide")
	return ok && c.now.Sub(j.made) < e.d
}

func (j *job) isGone() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.gone
}

func (j *job) remove() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.gone = true
}

// mine lists the caller's jobs, newest first.
func (c *call) mine() []*job {
	c.s.mu.Lock()
	all := slices.Clone(c.s.jobs)
	c.s.mu.Unlock()
	slices.Reverse(all)
	return slices.DeleteFunc(all, func(j *job) bool {
		return j.vendor.name != c.v.name || j.account != c.account || j.isGone() || c.hides(j)
	})
}

// enqueued sums the prompt tokens of the account's unfinished jobs for a model.
func (c *call) enqueued(model string) int64 {
	var sum int64
	for _, j := range c.mine() {
		if j.model == model && !j.at(c.now).over() {
			sum += j.tokens
		}
	}
	return sum
}

// page cuts a list after the entry with an id, and tells whether more follows.
func page[T any](all []T, after string, limit int, id func(T) string) (part []T, more bool) {
	if after != "" {
		at := slices.IndexFunc(all, func(t T) bool { return id(t) == after })
		all = all[at+1:]
	}
	if len(all) > limit {
		return all[:limit], true
	}
	return all, false
}

// cancel stops a job and tells whether there was something to stop; a rule may make it slow.
func (c *call) cancel(j *job) bool {
	var lag time.Duration
	if e, ok := c.effect("slow-cancel"); ok {
		lag = e.d
	}
	return j.stop(c.now, lag)
}
