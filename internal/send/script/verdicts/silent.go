package verdicts

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"assay/internal/assay"
	"assay/internal/judge"
	"assay/internal/judge/program"
	"assay/internal/keep/store"
	"assay/internal/send/script/stages"
)

// programLimit is how long a program may take over one block of answers where the study sets no limit.
const programLimit = 10 * time.Minute

// silently judges a block by a rule or a program. What has a verdict keeps it, and is not shown to the program again.
func (w *writer) silently(rec stages.Judging, block []stages.Wanted) error {
	block, _, err := w.Conditions.Keep(w.ctx, rec, block)
	if err != nil || len(block) == 0 {
		return err
	}
	given, err := w.reader.VerdictsAt(w.ctx, w.Run.No, stages.KeysOf(block))
	if err != nil {
		return err
	}
	block = slices.DeleteFunc(block, func(b stages.Wanted) bool { _, there := given[b.At.Key()]; return there })
	taken, err := w.inherited(w.ctx, rec, block)
	if err != nil {
		return err
	}
	answered, err := w.Answers.For(w.ctx, rec, block)
	if err != nil {
		return err
	}
	p := &silentJudge{writer: w, rec: rec, answered: answered}
	for _, b := range block {
		if v, ok := taken[b.At.Key()]; ok {
			w.block = append(w.block, v)
			continue
		}
		if err := p.take(b); err != nil {
			return err
		}
	}
	return p.finish()
}

// silentJudge is a rule or a program at work on one block.
type silentJudge struct {
	*writer
	rec      stages.Judging
	answered stages.Answers
	lines    []byte
	asked    []assay.Key
	frames   map[assay.Key]store.Verdict
}

// take judges one answer or pair by the rule, or puts it before the program.
func (p *silentJudge) take(b stages.Wanted) error {
	v, err := p.rec.Frame(b.At)
	if err != nil {
		return err
	}
	if given, done, err := p.rec.Known(b.At, p.answered); done || err != nil {
		return errors.Join(err, p.add(v, given))
	}
	if j, ok := p.rec.(*stages.Judge); ok && j.By().Rule != nil {
		return p.rule(j, b, v)
	}
	var ok bool
	if p.lines, ok, err = p.rec.Line(p.lines, b.Item, b.At, p.answered); err != nil {
		return fmt.Errorf("item %q in stage %s: %w", b.Item.ID, b.At.Stage, err)
	}
	if !ok {
		return p.missing(v)
	}
	if p.frames == nil {
		p.frames = map[assay.Key]store.Verdict{}
	}
	p.asked, p.frames[b.At.Key()] = append(p.asked, b.At.Key()), v
	return nil
}

func (p *silentJudge) rule(j *stages.Judge, b stages.Wanted, v store.Verdict) error {
	a, ok := p.answered[v.Subject]
	if !ok {
		return p.missing(v)
	}
	verdict, err := j.ByRule(b.Item, a)
	if err != nil {
		return fmt.Errorf("item %q in stage %s: %w", b.Item.ID, b.At.Stage, err)
	}
	return p.add(v, verdict)
}

// missing writes that there is nothing to judge, once that is certain.
func (p *silentJudge) missing(v store.Verdict) error {
	if !p.final {
		return nil
	}
	return p.add(v, judge.Missing("there is no answer to judge"))
}

// finish starts the program, if it has anything to judge, and writes its verdicts.
func (p *silentJudge) finish() error {
	if len(p.asked) == 0 {
		return nil
	}
	if p.Programs == nil {
		return errors.New("a program is to judge, and this command runs none: assay resume does")
	}
	r := p.rec.By()
	given := map[assay.Key]assay.Verdict{}
	stray := ""
	limit := r.Limit
	if limit == 0 {
		limit = programLimit
	}
	err := p.Programs.Run(p.ctx,
		program.Start{Folder: p.Run.Folder, Command: r.Command, Limit: limit, Input: p.lines, Line: func(line []byte) error {
			key, v, err := judge.ReadLine(r.Rubric, line)
			if err != nil {
				if stray == "" {
					stray = err.Error()
				}
				return nil
			}
			if before, twice := given[key]; twice &&
				(before.State != v.State || before.Label != v.Label || !equalScores(before.Score, v.Score)) {
				v = assay.Verdict{State: assay.VerdictMalformed, Why: "the program said two different things about it"}
			}
			if _, ours := p.frames[key]; ours {
				given[key] = v
			}
			return nil
		}})
	var crash *program.Crash
	if err != nil && !errors.As(err, &crash) {
		return err
	}
	for _, key := range p.asked {
		v, ok := given[key]
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
