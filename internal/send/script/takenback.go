package script

import (
	"context"
	"encoding/json"

	"assay/internal/keep/store"
)

// takenBack counts those requests of a block that are asked as they were before: an edit that is taken back finds their answers, and
// what is made from those as well.
func (c *changing) takenBack(ctx context.Context, rec stage, g store.GroupKey, block []wanted) error {
	if c.reuse == nil || len(block) == 0 {
		return nil
	}
	m, err := c.is.maker(g.Stage, g.Lane, store.Batch)
	if err != nil {
		return err
	}
	params, err := json.Marshal(m.route.Lane.Params)
	if err != nil {
		return err
	}
	said, err := c.afterwards(ctx, m, rec, block)
	if err != nil {
		return err
	}
	address := c.address(m.route.Lane.Provider)
	var asked []store.Question
	for _, w := range block {
		p, ok, err := rec.prompt(w.item, w.at, said)
		if err != nil {
			return err
		}
		if ok {
			asked = append(asked, store.Question{Key: w.at.Key(), At: w.at, Digest: m.request(w.at, &p).Request.Digest(address, params, w.at.Draw)})
		}
	}
	found, err := c.is.Reuse.SameKey(ctx, *c.reuse, asked)
	if err != nil {
		return err
	}
	for _, q := range asked {
		if _, ok := found[q.Key]; ok {
			c.back[q.Key] = q
			c.backs[store.Share{Stage: g.Stage, Lane: g.Lane}]++
		}
	}
	return nil
}

// afterwards are the answers that a block is made from once the edit is taken up: of what is asked again only those that are taken over. One
// too long for a row is left out, and what is made from it counts as new.
func (c *changing) afterwards(ctx context.Context, m *maker, rec stage, block []wanted) (answers, error) {
	said, err := m.answersFor(ctx, rec, block)
	if err != nil {
		return nil, err
	}
	var asked []store.Question
	for _, w := range block {
		needs, err := rec.needs(w.item, w.at)
		if err != nil {
			return nil, err
		}
		for _, n := range needs {
			k := n.Key()
			if c.touched[k] {
				delete(said, k)
			}
			if q, ok := c.back[k]; ok {
				asked = append(asked, q)
			}
		}
	}
	found, err := c.is.Reuse.SameKey(ctx, *c.reuse, asked)
	if err != nil {
		return nil, err
	}
	for k, a := range found {
		if !a.Over {
			said[k] = answer{text: a.Outcome.Text, ending: a.Outcome.Ending}
		}
	}
	return said, nil
}
