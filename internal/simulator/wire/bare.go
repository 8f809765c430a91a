package wire

import (
	"fmt"

	"assay/internal/simulator/backend"
	"assay/internal/simulator/bodies"
	"assay/internal/simulator/dice"
	"assay/internal/simulator/rules"

	"github.com/valyala/fastjson"
)

// bareFormat is {"custom_id","body"}, and an answer much like OpenAI's.
type bareFormat struct {
	dialect  backend.Dialect
	model    string // named by the job; "": by the lines
	idMost   int    // longest id; 0: any
	idNeeded bool
	shape    func(*rules.Rejection) any // the provider's error document
	plain    bool                       // errors are in the line without a response
}

func (f bareFormat) Open(_ *backend.Job, v *fastjson.Value) (backend.Carried, *rules.Rejection) {
	in := backend.Carried{ID: string(v.GetStringBytes("custom_id")), Body: v.Get("body"), Dialect: f.dialect, Model: f.model}
	switch {
	case in.ID == "" && f.idNeeded:
		return in, rules.Invalid("custom_id", "missing_required_parameter", "custom_id is required")
	case f.idMost > 0 && len(in.ID) > f.idMost:
		return in, rules.Invalid("custom_id", "string_too_long", "custom_id is longer than %d characters", f.idMost)
	case in.Body == nil || in.Body.Type() != fastjson.TypeObject:
		return in, rules.Invalid("body", "missing_required_parameter", "body is required")
	}
	return in, nil
}

func (f bareFormat) Close(dst []byte, _ *backend.Job, e *backend.Ended) ([]byte, int) {
	dst = fmt.Appendf(dst, `{"id":"%s","custom_id":`, dice.UUID(e.Number))
	dst = bodies.AppendJSON(dst, e.ID)
	switch e.How {
	case backend.Answered:
		dst = append(dst, `,"response":{"status_code":200,"body":`...)
		return append(append(dst, e.Reply...), `},"error":null}`...), 0
	case backend.Errored:
		if f.plain {
			code := "batch_client_error"
			if e.Rejection.Status >= 500 {
				code = "batch_server_error"
			}
			return append(bodies.AppendJSON(append(dst, `,"error":`...), map[string]any{"code": code, "message": e.Rejection.Message}),
				'}'), 1
		}
		dst = fmt.Appendf(dst, `,"response":{"status_code":%d,"body":`, e.Rejection.Status)
		return append(bodies.AppendJSON(dst, f.shape(e.Rejection)), `},"error":null}`...), 1
	}
	return dst, -1 // requests that never ran have no line
}
