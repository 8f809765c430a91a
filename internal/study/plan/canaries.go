package plan

import (
	"fmt"

	"assay/internal/assay"
)

// Said returns what a careful reader should know of a plan of which so many requests of each part are left, nil: all.
func (p *Plan) Said(left func(Part) int64) []string {
	if left == nil {
		left = func(q Part) int64 { return q.Requests }
	}
	all := p.Notes[:len(p.Notes):len(p.Notes)]
	if note := p.canaries(left); note != "" {
		all = append(all, note)
	}
	return all
}

// canaries returns what asking one request of each lane and stage live costs more than its batch; empty: none goes live.
func (p *Plan) canaries(left func(Part) int64) string {
	n, more := int64(0), assay.Cost{}
	seen := map[string]bool{}
	for _, q := range p.Parts {
		name, some := q.Stage+" "+q.Lane.Name, left(q)
		if q.Canary == 0 || seen[name] || some == 0 || some-q.Canary < q.Few {
			continue
		}
		seen[name] = true
		n++
		more = more.Add(assay.Cost{
			Sum:     (q.Live.Expected.Sum - q.Plain.Expected.Sum) / assay.Money(q.Requests),
			Priced:  min(1, q.Cost.Expected.Priced),
			Unknown: min(1, q.Cost.Expected.Unknown),
		})
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("canaries: %s of these %s live first, one for each lane and stage, for %s more, which the sums have",
		assay.Count(n, "request"), assay.Verb(n, "goes", "go"), roughly(more))
}

// roughly returns a price that is a guess.
func roughly(c assay.Cost) string {
	if c.Unknown > 0 {
		return c.String()
	}
	return "about " + c.String()
}
