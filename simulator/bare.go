package simulator

import (
	"fmt"

	"github.com/valyala/fastjson"
)

// bareFormat is {"custom_id","body"}, and an answer much like OpenAI's.
type bareFormat struct {
	dialect  dialect
	model    string // named by the job; "": by the lines
	idMost   int    // longest id; 0: any
	idNeeded bool
	shape    func(*Rejection) any // the provider's error document
}

func (f bareFormat) open(_ *job, v *fastjson.Value) (carried, *Rejection) {
	in := carried{id: stringOf(v, "custom_id"), body: v.Get("body"), dialect: f.dialect, model: f.model}
	switch {
	case in.id == "" && f.idNeeded:
		return in, invalid("custom_id", "missing_required_parameter", "custom_id is required")
	case f.idMost > 0 && len(in.id) > f.idMost:
		return in, invalid("custom_id", "string_too_long", "custom_id is longer than %d characters", f.idMost)
	case in.body == nil || in.body.Type() != fastjson.TypeObject:
		return in, invalid("body", "missing_required_parameter", "body is required")
	}
	return in, nil
}

func (f bareFormat) close(dst []byte, _ *job, e *ended) ([]byte, int) {
	dst = fmt.Appendf(dst, `{"id":"%s","custom_id":`, uuid(e.num))
	dst = appendJSON(dst, e.id)
	switch e.how {
	case answered:
		dst = append(dst, `,"response":{"status_code":200,"body":`...)
		return append(append(dst, e.reply...), `},"error":null}`...), 0
	case errored:
		dst = fmt.Appendf(dst, `,"response":{"status_code":%d,"body":`, e.rej.Status)
		return append(appendJSON(dst, f.shape(e.rej)), `},"error":null}`...), 1
	}
	return dst, -1 // nothing is told of requests that never ran
}
