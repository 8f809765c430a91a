package backend

import (
	"fmt"
	"net/http"
	"slices"

	"assay/internal/simulator/bodies"
	"assay/internal/simulator/dice"
	"assay/internal/simulator/rules"
	"assay/internal/simulator/spill"

	"github.com/valyala/fastjson"
)

// Survey is the result of a provider's reading of the lines of a job.
type Survey struct {
	Lines    spill.LineIndex
	Tokens   int64
	model    string
	Issues   []Issue
	bad      []uint32 // lines that end in an error
	firstBad *rules.Rejection
	ids      []uint64 // hashes, in the order of the lines
	prefixes map[uint64]uint32
}

const (
	maxIssues   = 20
	maxPrefixes = 4096 // different prompt prefixes a job remembers
)

// survey reads every line once: it indexes them, checks the frame of each, and finds the requests that will be rejected.
func (s *Service) survey(j *Job, data spill.Blob) (*Survey, error) {
	x, err := s.spill.NewIndex()
	if err != nil {
		return nil, err
	}
	sv := &Survey{prefixes: map[uint64]uint32{}}
	if data.Path == "" { // no such file
		return sv, nil
	}
	var parser fastjson.Parser
	err = spill.EachLine(data, func(line []byte, off int64) error {
		n := x.Len
		v, perr := parser.ParseBytes(line)
		if perr != nil {
			sv.note(n+1, rules.Invalid("", "invalid_json_line", "This line is not parseable as valid JSON."))
		} else {
			s.surveyLine(sv, j, v, n)
		}
		return x.Add(off)
	})
	if err != nil {
		return nil, err
	}
	if sv.Lines, err = x.Done(data); err != nil {
		return nil, err
	}
	sv.finish(j.Vendor, s.opts.Limits)
	return sv, nil
}

func (s *Service) surveyLine(sv *Survey, j *Job, v *fastjson.Value, n int) {
	in, rej := j.Format.Open(j, v)
	if rej != nil {
		sv.note(n+1, rej)
		return
	}
	sv.ids = append(sv.ids, dice.Hash(0, in.ID))
	q, rej := in.Dialect.Read(s.reading(j, in, j.Made), in.Body)
	if rej == nil && dice.Chance(dice.Hash(j.Number, in.ID)) < j.troubles {
		rej = rules.Plain(http.StatusInternalServerError, 0)
	}
	if sv.model == "" {
		sv.model = q.Model
	} else if q.Model != sv.model && j.Vendor.OneModel {
		sv.note(n+1, rules.Invalid("body.model", "mismatched_model", "The model of this request differs from that of the others."))
	}
	sv.Tokens += int64(bodies.PromptTokens(&q))
	if rej != nil {
		sv.bad = append(sv.bad, uint32(n))
		if sv.firstBad == nil {
			sv.firstBad = rej
		}
		return
	}
	for _, m := range q.Marks {
		if _, known := sv.prefixes[m.Hash]; !known && len(sv.prefixes) < maxPrefixes {
			sv.prefixes[m.Hash] = uint32(n)
		}
	}
}

func (sv *Survey) note(line int, r *rules.Rejection) {
	if len(sv.Issues) < maxIssues {
		sv.Issues = append(sv.Issues, Issue{Line: line, Rejection: *r})
	}
}

// finish looks at the lines as a whole.
func (sv *Survey) finish(v *Vendor, l Limits) {
	if line := firstRepeat(sv.ids); line > 0 && !v.LooseIDs {
		sv.note(line, rules.Invalid("custom_id", "duplicate_custom_id",
			"The custom_id for this request is a duplicate of another request."))
	}
	most, bytes := v.Requests, v.Bytes
	if l.BatchRequests > 0 {
		most = l.BatchRequests
	}
	if l.BatchBytes > 0 {
		bytes = l.BatchBytes
	}
	switch {
	case sv.Lines.Len == 0:
		sv.note(0, rules.Invalid("", "empty_file", "The input file is empty."))
	case most > 0 && sv.Lines.Len > most:
		sv.note(0, rules.Invalid("", "too_many_tasks", "The batch has %d requests; at most %d are allowed.", sv.Lines.Len, most))
	case bytes > 0 && sv.Lines.Data.Size > bytes:
		sv.note(0, &rules.Rejection{Status: http.StatusRequestEntityTooLarge, Code: "file_too_large",
			Message: fmt.Sprintf("The batch has %d bytes; at most %d are allowed.", sv.Lines.Data.Size, bytes)})
	}
}

// firstRepeat returns the line, from 1, that first repeats an id; 0: none does.
func firstRepeat(ids []uint64) int {
	sorted := slices.Clone(ids)
	slices.Sort(sorted)
	repeated := map[uint64]bool{}
	for i := 1; i < len(sorted); i++ {
		if sorted[i] == sorted[i-1] {
			repeated[sorted[i]] = true
		}
	}
	if len(repeated) == 0 {
		return 0
	}
	seen := map[uint64]bool{}
	for i, h := range ids {
		if seen[h] {
			return i + 1
		}
		if repeated[h] {
			seen[h] = true
		}
	}
	return 0
}

// OneBadFailsAll makes a batch with one bad request fail as a whole.
func OneBadFailsAll(sv *Survey) {
	if sv.firstBad != nil && sv.firstBad.Status < 500 {
		sv.Issues = append(sv.Issues, Issue{Line: int(sv.bad[0]) + 1, Rejection: *sv.firstBad})
	}
}

// TooMuchQueued finds a batch invalid that does not fit beside those still unfinished.
func (c *Call) TooMuchQueued(sv *Survey) {
	if len(sv.Issues) == 0 && c.OverQueued(sv.model, sv.Tokens) {
		sv.note(0, &rules.Rejection{Status: http.StatusTooManyRequests, Code: "token_limit_exceeded", Message: fmt.Sprintf(
			"Enqueued token limit reached for %s. Limit: %d enqueued tokens. Please try again once some in_progress batches have "+
				"been completed.", sv.model, c.s.opts.Limits.Enqueued)})
	}
}
