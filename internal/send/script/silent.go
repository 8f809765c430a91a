package script

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"assay/internal/assay"
	"assay/internal/judge"
	"assay/internal/judge/program"
	"assay/internal/keep/store"
)

// programLimit is how long a program may take over one block of answers where the study does not say.
const programLimit = 10 * time.Minute

// silently judges a block by a rule or a program. What has a verdict keeps it, and is not shown to the program again.
func (w *verdictWriter) silently(rec reader, block []wanted) error {
	fates, err := w.fates(w.ctx, rec, block)
	if err != nil {
		return err
	}
	block, _ = alive(block, fates)
	if len(block) == 0 {
		return nil
	}
	keys := make([]assay.Key, len(block))
	for i, b := range block {
		keys[i] = b.at.Key()
	}
	given, err := w.Reader.VerdictsAt(w.ctx, w.run.No, keys)
	if err != nil {
		return err
	}
	block = slices.DeleteFunc(block, func(b wanted) bool { _, there := given[b.at.Key()]; return there })
	taken, err := w.inherited(w.ctx, rec, block)
	if err != nil {
		return err
	}
	answered, err := (&maker{Script: w.Script}).answersFor(w.ctx, rec, block)
	if err != nil {
		return err
	}
	p := &performance{verdictWriter: w, rec: rec, answered: answered}
	for _, b := range block {
		if v, ok := taken[b.at.Key()]; ok {
			w.block = append(w.block, v)
			continue
		}
		if err := p.take(b); err != nil {
			return err
		}
	}
	return p.finish()
}

// performance is a rule or a program at work on one block.
type performance struct {
	*verdictWriter
	rec      reader
	answered answers
	lines    []byte
	asked    []assay.Key
	frames   map[assay.Key]store.Verdict
}

// take judges one answer or pair by the rule, or puts it before the program.
func (p *performance) take(b wanted) error {
	v, err := p.rec.frame(b.at)
	if err != nil {
		return err
	}
	if said, done, err := p.rec.known(b.at, p.answered); done || err != nil {
		return errors.Join(err, p.add(v, said))
	}
	if j, ok := p.rec.(*judging); ok && j.rubric.Rule != nil {
		return p.rule(j, b, v)
	}
	var ok bool
	if p.lines, ok, err = p.rec.line(p.lines, b.item, b.at, p.answered); err != nil {
		return fmt.Errorf("item %q in stage %s: %w", b.item.ID, b.at.Stage, err)
	}
	if !ok {
		return p.missing(v)
	}
	if p.frames == nil {
		p.frames = map[assay.Key]store.Verdict{}
	}
	p.asked, p.frames[b.at.Key()] = append(p.asked, b.at.Key()), v
	return nil
}

func (p *performance) rule(j *judging, b wanted, v store.Verdict) error {
	a, ok := p.answered[v.Subject]
	if !ok {
		return p.missing(v)
	}
	expect, err := j.expected(b.item)
	if err != nil {
		return fmt.Errorf("item %q in stage %s: %w", b.item.ID, b.at.Stage, err)
	}
	return p.add(v, j.rubric.Rule(a.text, expect))
}

// missing writes that there is nothing to judge, once that is certain.
func (p *performance) missing(v store.Verdict) error {
	if !p.final {
		return nil
	}
	return p.add(v, judge.Missing("there is no answer to judge"))
}

// finish starts the program, if it has anything to judge, and writes what it says.
func (p *performance) finish() error {
	if len(p.asked) == 0 {
		return nil
	}
	if p.Programs == nil {
		return errors.New("a program is to judge, and this command runs none: assay resume does")
	}
	r, _ := p.rec.by()
	said := map[assay.Key]assay.Verdict{}
	stray := ""
	limit := r.limit
	if limit == 0 {
		limit = programLimit
	}
	err := p.Programs.Run(p.ctx,
		program.Start{Folder: p.run.Folder, Command: r.command, Limit: limit, Input: p.lines, Line: func(line []byte) error {
			key, v, err := judge.ReadLine(r.Rubric, line)
			if err != nil {
				if stray == "" {
					stray = err.Error()
				}
				return nil
			}
			if before, twice := said[key]; twice &&
				(before.State != v.State || before.Label != v.Label || !equalScores(before.Score, v.Score)) {
				v = assay.Verdict{State: assay.VerdictMalformed, Why: "the program said two different things about it"}
			}
			if _, ours := p.frames[key]; ours {
				said[key] = v
			}
			return nil
		}})
	var crash *program.Crash
	if err != nil && !errors.As(err, &crash) {
		return err
	}
	for _, key := range p.asked {
		v, ok := said[key]
		switch {
		case ok:
		case crash != nil:
			v = assay.Verdict{State: assay.VerdictFailed, Why: crash.Error()}
		case stray != "":
			v = assay.Verdict{State: assay.VerdictMalformed, Why: stray}
		default:
			v = assay.Verdict{State: assay.VerdictFailed, Why: "the program said nothing about it"}
		}
		if err := p.add(p.frames[key], v); err != nil {
			return err
		}
	}
	return nil
}

func equalScores(a, b *float64) bool { return a == nil && b == nil || a != nil && b != nil && *a == *b }
