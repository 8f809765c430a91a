package batchrun

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/assay/jsontext"
	"assay/internal/keep/store"
	"assay/internal/send/dialect"
)

// FormatClient writes OpenAI's result lines, whichever provider answered: one for every line of the client's file, in the
// results or among the errors.
const FormatClient Format = "client"

// APIOf returns the API of an endpoint; empty: none that is carried.
func APIOf(endpoint string) string {
	switch endpoint {
	case "/v1/chat/completions":
		return "chat"
	case "/v1/responses":
		return "responses"
	}
	return ""
}

// Problem is an error in OpenAI's form.
type Problem struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

// NewProblem returns the error that goes with an HTTP status.
func NewProblem(status int, code, param, message string) Problem {
	p := Problem{Message: message, Type: "invalid_request_error"}
	switch {
	case code == "insufficient_quota":
		p.Type = "insufficient_quota"
	case status == http.StatusTooManyRequests:
		p.Type = "rate_limit_error"
	case status >= 500:
		p.Type = "server_error"
	}
	if code != "" {
		p.Code = &code
	}
	if param != "" {
		p.Param = &param
	}
	return p
}

// ProblemOf returns a provider's reply as a status and an error in OpenAI's form. A key that a provider refuses is the
// gateway's, not the client's.
func ProblemOf(provider string, o assay.Outcome) (int, Problem) {
	status, code, param, message := http.StatusInternalServerError, string(o.Ending), "", "the provider gave no answer"
	if o.Ending == assay.Rejected {
		status = http.StatusBadRequest
	}
	if f := o.Fault; f != nil {
		code, param, message = cmp.Or(f.Code, code), f.Param, cmp.Or(f.Message, message)
		switch {
		case f.Class == assay.FaultDenied:
			status, code = http.StatusBadGateway, "provider_denied"
		case f.Class == assay.FaultQuota:
			status, code = http.StatusBadGateway, "provider_quota"
		case missing(f) && param == "": // nothing else is named in a question
			status, code, param = http.StatusNotFound, "model_not_found", "model"
		case f.Status >= 400:
			status = f.Status
		case f.Class == assay.FaultInvalid || f.Class == assay.FaultLarge:
			status = http.StatusBadRequest
		case f.Class == assay.FaultBusy:
			status = http.StatusServiceUnavailable
		}
	}
	return status, NewProblem(status, code, param, provider+": "+message)
}

// missing reports whether a provider does not have what was asked for: by the status, or in a batch by the code.
func missing(f *assay.Fault) bool {
	const grpc = "5"
	return f.Status == http.StatusNotFound ||
		f.Status == 0 && slices.Contains([]string{"not_found_error", "not_found", "model_not_found", grpc}, f.Code)
}

// refuseAll writes the requests that were refused before anything was sent.
func (c *collector) refuseAll(ctx context.Context) error {
	for r, err := range c.Refused(ctx, c.run) {
		if err != nil {
			return err
		}
		c.tally.Failures++
		if err := c.failure(r.ID, r.Status, NewProblem(r.Status, r.Code, r.Param, r.Message)); err != nil {
			return err
		}
	}
	return nil
}

// openai writes one line of the file in OpenAI's form.
func (c *collector) client(a *held) error {
	id := a.Line.ID
	switch {
	case !a.Ended, a.Outcome.Ending == assay.Cancelled:
		return c.put(false, clientLine{ID: c.name(id), CustomID: id, Error: &c.unsent})
	case a.Outcome.Ending == assay.Expired:
		return c.put(false, clientLine{ID: c.name(id), CustomID: id,
			Error: &End{"batch_expired", "This request could not be executed before the completion window expired."}})
	case !good(a.Outcome.Ending):
		provider, _, _ := strings.Cut(a.Line.Lane, "/")
		status, p := ProblemOf(provider, a.Outcome)
		return c.failure(id, status, p)
	}
	body, err := c.body(a)
	if err != nil {
		return err
	}
	return c.put(true, clientLine{ID: c.name(id), CustomID: id,
		Response: &clientReply{http.StatusOK, cmp.Or(a.Outcome.RequestID, c.name(id)), body}})
}

func (c *collector) failure(id string, status int, p Problem) error {
	body, err := json.Marshal(map[string]Problem{"error": p})
	if err != nil {
		return err
	}
	return c.put(false, clientLine{ID: c.name(id), CustomID: id, Response: &clientReply{status, c.name(id), body}})
}

// name returns the id of a result: the same whenever it is written.
func (c *collector) name(id string) string {
	sum := sha256.Sum256([]byte(c.run.ID + " " + id))
	return "batch_req_" + hex.EncodeToString(sum[:12])
}

// put writes a line so that no character in it ends a line for any reader.
func (c *collector) put(answer bool, l clientLine) error {
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	if c.buf, err = dialect.AppendRenamed(c.buf[:0], text, l.CustomID); err != nil {
		return err
	}
	to := c.errors
	if answer {
		to = c.results
	}
	_, err = to.Write(append(c.buf, '\n'))
	return err
}

// body returns the reply in the form of the API that the client asked: the provider's own if its requests go out in that API, else
// one made from the answer.
func (c *collector) body(a *held) (json.RawMessage, error) {
	api := APIOf(c.batch.Client.Endpoint)
	live := a.file.Kind == store.ArtifactLive
	if d := c.dialectOf(a.Line.Lane, live); string(d) == api {
		if raw := replyIn(a.raw, live); raw != nil {
			return raw, nil
		}
	}
	o := a.Outcome
	if a.raw != nil { // a row keeps neither long texts nor calls of tools
		whole, err := c.reread(a.Answer, a.raw, a.file)
		if err != nil {
			return nil, err
		}
		o.Text, o.Thoughts, o.Calls = whole.Text, whole.Thoughts, whole.Calls
	}
	head := dialect.ReplyHead{ID: strings.TrimPrefix(c.name(a.Line.ID), "batch_req_"), Created: c.run.Created.Unix(), Model: a.Line.Lane}
	return dialect.AppendReply(nil, assay.Dialect(api), head, &o)
}

// dialectOf returns the dialect in which a lane's requests are answered; empty: the file has no such lane.
func (c *collector) dialectOf(lane string, live bool) assay.Dialect {
	mode := assay.ModeBatch
	if live {
		mode = assay.ModeLive
	}
	for _, l := range c.batch.File.Lanes {
		if l.Name == lane {
			return c.batch.File.Wire(c.Catalog, l.Lane, mode).Dialect
		}
	}
	return ""
}

// replyIn returns the body of a reply in a line of results; nil: it is not where OpenAI has it.
func replyIn(raw []byte, live bool) (body []byte) {
	if live {
		return raw
	}
	jsontext.Members(raw, func(name, value []byte) {
		if string(name) != "response" {
			return
		}
		jsontext.Members(value, func(name, value []byte) {
			if string(name) == "body" {
				body = value
			}
		})
	})
	return body
}

type clientLine struct {
	ID       string       `json:"id"`
	CustomID string       `json:"custom_id"`
	Response *clientReply `json:"response"`
	Error    *End         `json:"error"`
}

type clientReply struct {
	Status    int             `json:"status_code"`
	RequestID string          `json:"request_id"`
	Body      json.RawMessage `json:"body"`
}
