package read

import (
	"context"
	"reflect"
	"slices"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
)

// Reusable returns answers or refusals of other runs to equal requests, by the keys of the asking ones: an answer under
// the same key, the newest of several, else one under another key that this run does not ask again. Each of the latter
// serves one request only: two items of equal wording never share an answer, and a further one is asked. Rehearsals are
// never reused, and neither are reused answers, unless whole runs are taken over.
func (s *Reuse) Reusable(ctx context.Context, f store.ReuseFrom, asked []store.Question) (map[assay.Key]store.Answer, error) {
	if err := s.db.IndexDigests(ctx); err != nil {
		return nil, err
	}
	found, err := s.SameKey(ctx, f, asked)
	if err != nil {
		return nil, err
	}
	spare := map[string][]store.Answer{} // what no request has taken yet, by digest
	for _, q := range asked {
		if _, ok := found[q.Key]; ok {
			continue
		}
		d := string(q.Digest)
		free, ok := spare[d]
		if !ok {
			var err error
			if free, err = s.unclaimed(ctx, f, q, asked); err != nil {
				return nil, err
			}
		}
		if len(free) > 0 {
			found[q.Key], free = free[0], free[1:]
		}
		spare[d] = free
	}
	return found, nil
}

// SameKey reads the answers to equal requests under their own keys. They are those that Reusable finds first.
func (s *Reuse) SameKey(ctx context.Context, f store.ReuseFrom, asked []store.Question) (map[assay.Key]store.Answer, error) {
	if err := s.db.IndexDigests(ctx); err != nil {
		return nil, err
	}
	found := make(map[assay.Key]store.Answer, len(asked))
	for _, q := range asked {
		own, err := s.donors(ctx, f, q.Digest, ` AND a.key = $6 AND ($7 = 1 OR o.reused_no IS NULL)
				ORDER BY o.at_ms DESC, a.run_no DESC LIMIT 1`,
			q.Key[:], db.Flag(whole(f)))
		if err == nil && len(own) > 0 {
			found[q.Key], err = s.retried(ctx, own[0])
		}
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// retried returns the reply that took the place of a judge's first one, where the same judge was asked again and gave a verdict; else the
// answer itself.
func (s *Reuse) retried(ctx context.Context, a store.Answer) (store.Answer, error) {
	if a.At.Judge == "" || a.At.Again != 0 {
		return a, nil
	}
	for later, err := range answers(ctx, s.db, `SELECT `+answerColumns+AnswerTables+`JOIN segments mine ON mine.no = $1
		JOIN attempts first ON first.segment_no = $1 AND first.ord = $3
		JOIN verdicts v ON v.run_no = mine.run_no AND v.key = $2 AND v.stale = 0 AND v.second_try > 0 AND v.fallback = ''
		AND v.state IN ('valid', 'abstained')
		WHERE a.segment_no = v.segment_no AND a.ord = v.ord AND o.stands = 1`, a.Segment, a.Key[:], a.Ord) {
		return later, err
	}
	return a, nil
}

func whole(f store.ReuseFrom) bool { return f.Whole && len(f.From) > 0 }

// donors returns the answers to equal requests that may be taken. More is the rest of the query, with its arguments from $6 on.
func (s *Reuse) donors(ctx context.Context, f store.ReuseFrom, digest []byte, more string, args ...any) ([]store.Answer, error) {
	all := append([]any{digest, f.Run, f.Study, f.Since.UnixMilli(), db.Flag(whole(f))}, args...)
	from := ""
	if len(f.From) > 0 {
		for _, no := range f.From {
			all = append(all, no)
		}
		from = ` AND a.run_no IN (` + db.Placeholders(len(args)+6, len(all)) + `)`
	}
	var out []store.Answer
	for a, err := range answers(ctx, s.db, `SELECT `+answerColumns+AnswerTables+`JOIN runs r ON r.no = a.run_no
		WHERE a.digest = $1 AND a.run_no <> $2 AND ($3 = '' OR r.study = $3) AND o.at_ms >= $4 AND r.rehearsal = 0
		AND o.stands = 1 AND ($5 = 1
		OR o.ending IN ('answered', 'refused'))`+from+more, all...) {
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

// unclaimed returns the answers to a question under keys that this run does not ask itself, those left that no request of the run
// has taken yet. Only first-hand answers count, so that one is not found twice.
func (s *Reuse) unclaimed(ctx context.Context, f store.ReuseFrom, q store.Question, asked []store.Question) ([]store.Answer, error) {
	all, err := s.donors(ctx, f, q.Digest, ` AND o.reused_no IS NULL ORDER BY o.at_ms DESC, a.key, a.run_no DESC`)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	own := map[assay.Key]bool{}
	for _, other := range asked {
		if string(other.Digest) == string(q.Digest) {
			own[other.Key] = true
		}
	}
	var free []store.Answer
	known := map[assay.Key]bool{}
	for _, a := range all {
		if known[a.Key] {
			continue
		}
		known[a.Key] = true
		claimed := own[a.Key]
		if !claimed {
			if claimed, err = s.stillAsked(ctx, f.Run, q, a); err != nil {
				return nil, err
			}
		}
		if !claimed {
			free = append(free, a)
		}
	}
	taken, err := s.takers(ctx, f.Run, q.Digest, known)
	return free[min(taken, len(free)):], err
}

// takers counts the requests of a run that took answers to this digest from elsewhere than these keys.
func (s *Reuse) takers(ctx context.Context, run int64, digest []byte, known map[assay.Key]bool) (int, error) {
	keys, err := s.db.Keys(ctx, `SELECT a.key, a.try FROM attempts a JOIN outcomes o ON o.segment_no = a.segment_no AND o.ord = a.ord
		WHERE a.digest = $1 AND a.run_no = $2 AND o.reused_no IS NOT NULL`, digest, run)
	n := 0
	for k := range keys {
		if !known[k] {
			n++
		}
	}
	return n, err
}

// stillAsked reports whether a run asks the question of another run's answer itself, under the same key: it did, or it has the
// same lanes and items in it. If nothing but the name of a template, branch, prompt or trait differs, it was renamed.
func (s *Reuse) stillAsked(ctx context.Context, run int64, q store.Question, a store.Answer) (bool, error) {
	asked, err := s.reader.Asked(ctx, run, []assay.Ref{a.At.Ref()})
	if err != nil {
		return false, err
	}
	if len(asked) > 0 { // under that key it may have asked something else
		asked, err = s.db.Keys(ctx, `SELECT key, MAX(try) FROM attempts WHERE run_no = $1 AND item = $2 AND key = $3 AND digest = $4 GROUP BY key`,
			run, a.At.Item, a.Key[:], q.Digest)
		return len(asked) > 0, err
	}
	old, at := a.At, q.At
	if old.Stage == at.Stage && old.Item == at.Item && old.Lane == at.Lane && old.Against == at.Against && old.Judge == at.Judge {
		return old.Turn != at.Turn || old.Vote != at.Vote || old.Again != at.Again || old.By != at.By, nil
	}
	source, err := s.reader.Segment(ctx, a.Segment)
	if err != nil {
		return false, err
	}
	if same, err := s.sameLanes(ctx, run, source.Run, old); err != nil || !same {
		return false, err
	}
	ids := []string{old.Item}
	if old.Paired() && old.Lane == "" {
		ids = append(ids, old.Against)
	}
	for _, id := range ids {
		if same, err := s.sameItem(ctx, run, source.Run, id); err != nil || !same {
			return false, err
		}
	}
	return true, nil
}

// sameLanes reports whether two runs have the same lanes under the names of these coordinates: the one that answers, in its stage, and
// those it reads.
func (s *Reuse) sameLanes(ctx context.Context, run, other int64, at assay.Coordinates) (bool, error) {
	lanes, err := s.reader.Lanes(ctx, run)
	if err != nil {
		return false, err
	}
	theirs, err := s.reader.Lanes(ctx, other)
	if err != nil {
		return false, err
	}
	answers, first, second := false, at.Lane == "", !at.Paired() || at.Lane == ""
	for _, l := range lanes {
		if !slices.ContainsFunc(theirs, func(o store.Lane) bool {
			return o.Stage == l.Stage && o.Name == l.Name && o.Provider == l.Provider && o.Model == l.Model && o.Params == l.Params
		}) {
			continue
		}
		answers = answers || l.Stage == at.Stage && l.Name == at.Answering()
		first = first || l.Name == at.Lane
		second = second || l.Name == at.Against
	}
	return answers && first && second, nil
}

// sameItem reports whether two runs have the same item under an id.
func (s *Reuse) sameItem(ctx context.Context, run, other int64, id string) (bool, error) {
	here, err := s.reader.Named(ctx, run, id)
	if err != nil || len(here) == 0 {
		return false, err
	}
	there, err := s.reader.Named(ctx, other, id)
	if err != nil {
		return false, err
	}
	for input, it := range there {
		if mine, ok := here[input]; ok && reflect.DeepEqual(mine.Fields, it.Fields) {
			return true, nil
		}
	}
	return false, nil
}
