package backend

// View is a job as one call sees it: the truth, unless a rule changes it.
type View struct {
	Progress
	Total, Succeeded, Errored, Pending int
	Expired, Cancelled                 int    // of those that never ran
	Word                               string // a state to show instead of the true one
	NoOutput                           bool   // show no result files
	Blank                              bool   // show "" for absent files
}

// Look returns a job as this call sees it.
func (c *Call) Look(j *Job) View {
	p := j.At(c.Now)
	v := View{Progress: p, Total: j.Lines.Len}
	if len(j.Failure) > 0 || p.Phase == Validating {
		v.Total = 0
	}
	v.Errored = j.badBefore(p.Done)
	v.Succeeded = p.Done - v.Errored
	v.Pending = v.Total - p.Done
	if p.Over() {
		switch p.Phase {
		case Expired:
			v.Expired, v.Pending = v.Pending, 0
		case Cancelled:
			v.Cancelled, v.Pending = v.Pending, 0
		}
	}
	if _, ok := c.Effect("freeze"); ok {
		v.Pending, v.Succeeded, v.Errored, v.Expired, v.Cancelled = v.Total, 0, 0, 0, 0
	}
	if _, ok := c.Effect("wrong-counts"); ok && v.Succeeded > 0 {
		v.Succeeded--
	}
	if e, ok := c.Effect("state"); ok {
		v.Word = e.Word
	}
	_, v.NoOutput = c.Effect("no-output")
	_, v.Blank = c.Effect("blank-ids")
	return v
}
