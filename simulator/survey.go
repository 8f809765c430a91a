package simulator

import (
	"fmt"
	"net/http"
	"slices"

	"assay"

	"github.com/valyala/fastjson"
)

// format is how a provider's batches carry requests in and results out.
type format interface {
	// open takes a request line apart. What it says is wrong with the line is a fault of the whole job.
	open(j *job, line *fastjson.Value) (carried, *Rejection)
	// close appends the line that tells how a request ended, without a line feed, and says into which of the job's
	// result files it goes.
	close(dst []byte, j *job, e *ended) (line []byte, file int)
}

// carried is one request as a line carries it.
type carried struct {
	id      string
	body    *fastjson.Value
	dialect dialect
	model   string // "": the body names it
}

// issue is something wrong with a job as a whole. Lines count from 1; 0 is no line.
type issue struct {
	line int
	Rejection
}

// survey is what a provider finds out when it reads the lines of a job.
type survey struct {
	lines    lineIndex
	tokens   int64
	model    string
	issues   []issue
	bad      []uint32 // lines that end in an error
	firstBad *Rejection
	ids      []uint64 // hashes, in the order of the lines
	prefixes map[uint64]uint32
}

const (
	maxIssues   = 20
	maxPrefixes = 4096 // different prompt prefixes a job remembers
)

// survey reads every line once: it indexes them, checks the frame of each, and finds the requests that will be rejected.
func (s *Server) survey(j *job, data blob) (*survey, error) {
	x, err := s.spill.newIndex()
	if err != nil {
		return nil, err
	}
	sv := &survey{prefixes: map[uint64]uint32{}}
	var parser fastjson.Parser
	err = eachLine(data, func(line []byte, off int64) error {
		n := x.n
		v, perr := parser.ParseBytes(line)
		if perr != nil {
			sv.note(n+1, invalid("", "invalid_json_line", "This line is not parseable as valid JSON."))
		} else {
			s.surveyLine(sv, j, v, n)
		}
		return x.add(off)
	})
	if err != nil {
		return nil, err
	}
	if sv.lines, err = x.done(data); err != nil {
		return nil, err
	}
	sv.finish(j.vendor, s.opts.Limits)
	return sv, nil
}

func (s *Server) surveyLine(sv *survey, j *job, v *fastjson.Value, n int) {
	in, rej := j.format.open(j, v)
	if rej != nil {
		sv.note(n+1, rej)
		return
	}
	sv.ids = append(sv.ids, hashString(0, in.id))
	q, rej := in.dialect.read(s.reading(j, in), in.body)
	if rej == nil && chance(hashString(j.number, in.id)) < j.troubles {
		rej = plain(http.StatusInternalServerError, 0)
	}
	if sv.model == "" {
		sv.model = q.Model
	} else if q.Model != sv.model && j.vendor.oneModel {
		sv.note(n+1, invalid("body.model", "model_mismatch", "The model of this request differs from that of the others."))
	}
	sv.tokens += int64(promptTokens(&q))
	if rej != nil {
		sv.bad = append(sv.bad, uint32(n))
		if sv.firstBad == nil {
			sv.firstBad = rej
		}
		return
	}
	for _, m := range q.marks {
		if _, known := sv.prefixes[m.hash]; !known && len(sv.prefixes) < maxPrefixes {
			sv.prefixes[m.hash] = uint32(n)
		}
	}
}

func (sv *survey) note(line int, r *Rejection) {
	if len(sv.issues) < maxIssues {
		sv.issues = append(sv.issues, issue{line: line, Rejection: *r})
	}
}

// finish looks at the lines as a whole.
func (sv *survey) finish(v *vendor, l Limits) {
	if line := firstRepeat(sv.ids); line > 0 && !v.looseIDs {
		sv.note(line, invalid("custom_id", "duplicate_custom_id", "The custom_id for this request is a duplicate of another request."))
	}
	most, bytes := v.requests, v.bytes
	if l.BatchRequests > 0 {
		most = l.BatchRequests
	}
	if l.BatchBytes > 0 {
		bytes = l.BatchBytes
	}
	switch {
	case sv.lines.n == 0:
		sv.note(0, invalid("", "empty_file", "The input file is empty."))
	case most > 0 && sv.lines.n > most:
		sv.note(0, invalid("", "too_many_tasks", "The batch has %d requests; at most %d are allowed.", sv.lines.n, most))
	case bytes > 0 && sv.lines.data.size > bytes:
		sv.note(0, &Rejection{Status: http.StatusRequestEntityTooLarge, Code: "file_too_large",
			Message: fmt.Sprintf("The batch has %d bytes; at most %d are allowed.", sv.lines.data.size, bytes)})
	}
}

// firstRepeat tells the line, from 1, that first repeats an id; 0: none does.
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

// keyPart is the part of a custom id that stays the same when a request is sent again: our own ids carry a nonce in front
// of the key; of others the whole id.
func keyPart(id string) string {
	if _, k, err := assay.ParseCustomID(id); err == nil {
		return k.String()
	}
	return id
}
