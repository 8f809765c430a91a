package batchrun

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/engine"
	"assay/internal/send/provider"
)

// Foreign is a job that this ledger did not make, found with the same key.
type Foreign struct {
	Target Target
	Access engine.Access
	Status provider.Status
}

// Dial opens the account of a target.
type Dial func(Target) (engine.Access, error)

// mostLooked is how many accounts are named in which a job is not.
const mostLooked = 3

// Search looks for a job at some providers.
func Search(ctx context.Context, id string, at []Target, dial Dial) (Foreign, error) {
	var looked []string
	for _, t := range at {
		access, err := dial(t)
		if err != nil || access.Batch == nil {
			continue
		}
		st, err := access.Batch.Check(ctx, provider.Job{ID: id})
		if err == nil && st.Job != "" {
			return Foreign{t, access, st}, nil
		}
		if ctx.Err() != nil {
			return Foreign{}, ctx.Err()
		}
		look := fmt.Sprintf("%s with the key %s", t.Name, access.Fingerprint)
		if f := provider.FaultOf(err); f != nil && f.Class == assay.FaultDenied {
			look += ", which is refused"
		}
		looked = append(looked, look)
	}
	if len(looked) == 0 {
		return Foreign{}, usage("assay jobs --elsewhere lists those there are", "no batch is called %q", id)
	}
	if n := len(looked); n > mostLooked {
		looked = append(looked[:mostLooked], fmt.Sprintf("%d more", n-mostLooked))
	}
	return Foreign{}, usage("assay jobs --elsewhere lists those there are; a job is seen only by the account that made it",
		"no batch is called %q, neither here nor at %s", id, strings.Join(looked, ", "))
}

// Row returns the job as lists show it.
func (f Foreign) Row() Job { return foreignRow(f.Target.Name, f.Status) }

func foreignRow(name string, st provider.Status) Job {
	j := Job{Provider: name, ID: st.Job, Model: st.Model, Created: st.Created, Status: cmp.Or(st.Word, string(st.State)),
		File: "(made elsewhere)", Requests: st.Counts.Total, Done: st.Counts.Done(),
		Failed: st.Counts.Failed + st.Counts.Expired + st.Counts.Cancelled}
	if st.Fault != nil {
		j.Note = st.Fault.Error()
	}
	return j
}

// Fetch writes the parts of one kind, results or errors, as they are: their order and ids are those of the job's maker.
func (f Foreign) Fetch(ctx context.Context, kind provider.PartKind, into io.Writer) error {
	for _, p := range f.Status.Parts {
		if (p.Kind == provider.PartErrors) != (kind == provider.PartErrors) {
			continue
		}
		if err := f.Access.Batch.Fetch(ctx, f.job(), p, provider.Fresh(into)); err != nil {
			return fmt.Errorf("fetch %s: %w", p.Name, err)
		}
	}
	return nil
}

// Cancel asks the provider to stop the job.
func (f Foreign) Cancel(ctx context.Context) error {
	c, ok := f.Access.Batch.(provider.Canceler)
	if !ok {
		return usage("", "%s cannot cancel a job", f.Target.Name)
	}
	if err := c.Cancel(ctx, f.job()); err != nil {
		return fmt.Errorf("cancel %s at %s: %w", f.Status.Job, f.Target.Name, err)
	}
	return nil
}

func (f Foreign) job() provider.Job { return provider.Job{ID: f.Status.Job, Model: f.Status.Model} }

// MaxListed is as many jobs of one provider as are listed.
const MaxListed = 1000

// Listed is one provider's list of jobs that are not in this ledger.
type Listed struct {
	Jobs []Job
	More bool // there are more than are listed
}

// List lists the newest jobs at a provider that are not among the known ones, up to the first error. A provider that
// cannot list has none.
func List(ctx context.Context, t Target, dial Dial, known []store.Job) (Listed, error) {
	ours := map[string]bool{}
	for _, j := range known {
		ours[j.Provider+" "+j.ID] = true
	}
	var out Listed
	access, err := dial(t)
	if err != nil {
		return out, err
	}
	l, ok := access.Batch.(provider.Lister)
	if !ok {
		return out, nil
	}
	for st, err := range l.List(ctx) {
		if err != nil {
			return out, err
		}
		if ours[t.Name+" "+st.Job] {
			continue
		}
		if len(out.Jobs) == MaxListed {
			out.More = true
			break
		}
		out.Jobs = append(out.Jobs, foreignRow(t.Name, st))
	}
	return out, nil
}
