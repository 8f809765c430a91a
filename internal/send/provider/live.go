package provider

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"assay/internal/assay"
	"assay/internal/send/dialect"
)

// Reply is the result of one live call.
type Reply struct {
	Outcome assay.Outcome // with an error: rejected or errored, with the same fault
	Raw     []byte        // the body of a reply, as it came; nil: none came
	Rate    Rate
	// Unsent is set if the request surely never left: asking again cannot be paid twice.
	Unsent bool
}

// Rate holds the limits in the headers of a reply. Absolute times are given relative to the server's own clock.
type Rate struct {
	Requests   Window
	Tokens     Window
	Input      Window // input tokens, if they are counted apart
	Output     Window // output tokens, if they are counted apart
	RetryAfter time.Duration
}

// Window is one limit. The zero value means that there was none.
type Window struct {
	Known     bool
	Limit     int64
	Remaining int64
	Reset     time.Duration // until it is full again; 0: unknown
}

// maxReply is the longest live reply that is read.
const maxReply = dialect.MaxLine

// Ask makes one live call and reads the answer. The error, if any, wraps the outcome's fault.
func (c *Client) Ask(ctx context.Context, path string, r *assay.Request) (Reply, error) {
	body, err := dialect.AppendBody(make([]byte, 0, 512), r)
	if err != nil {
		f := assay.Fault{Class: assay.FaultInvalid, Code: "not_sent", Message: assay.Clean(err.Error(), maxWords)}
		return Reply{Outcome: faulty(f), Unsent: true}, fmt.Errorf("ask: %w", errors.Join(&f, err))
	}
	call, hangUp := context.WithCancel(ctx)
	defer hangUp()
	resp, err := c.Do(call, Call{
		Method: "POST", Path: path, Type: "application/json", Body: bytes.NewReader(body), Length: int64(len(body)), unhurried: true,
	})
	if err != nil {
		return c.unanswered(err)
	}
	defer resp.Body.Close()
	reply := Reply{Rate: rateOf(resp.Header)}
	if reply.Raw, err = c.readLive(ctx, resp, hangUp); err != nil {
		failed, err := c.unanswered(err)
		failed.Rate = reply.Rate
		return failed, err
	}
	reply.Outcome = c.decode(r.Wire.Dialect, reply.Raw)
	reply.Outcome.RequestID = cmp.Or(requestID(resp.Header), reply.Outcome.RequestID)
	if f := reply.Outcome.Fault; f != nil && reply.Outcome.Ending != assay.Refused {
		f.RetryAfter = max(f.RetryAfter, reply.Rate.RetryAfter)
		if dialect.Unreadable(*f) && !reply.Outcome.Usage.Known {
			return reply, fmt.Errorf("ask: %w: %w", ErrUnreadable, f)
		}
		return reply, fmt.Errorf("ask: %w", f)
	}
	return reply, nil
}

// decode reads a reply with a decoder that has its memory already.
func (c *Client) decode(as assay.Dialect, raw []byte) assay.Outcome {
	d, ok := c.decoders.Get().(*dialect.Decoder)
	if !ok {
		d = &dialect.Decoder{}
	}
	defer c.decoders.Put(d)
	return d.Body(as, raw)
}

// readLive reads an answer that has begun to come, and hangs up when nothing more of it comes for a while.
func (c *Client) readLive(ctx context.Context, resp *http.Response, hangUp func()) ([]byte, error) {
	var stalled atomic.Bool
	wait := cmp.Or(c.stall, defaultStall)
	timer := time.AfterFunc(wait, func() { stalled.Store(true); hangUp() })
	defer timer.Stop()
	body := resp.Body
	resp.Body = &movingBody{ReadCloser: body, watch: &watch{timer: timer, wait: wait}}
	raw, err := c.read(ctx, resp, maxReply)
	resp.Body = body
	if call := (*callError)(nil); stalled.Load() && errors.As(err, &call) {
		call.fault.Code, call.fault.Message = "stalled", fmt.Sprintf("nothing more of the answer came for %s", wait)
	}
	return raw, err
}

// unanswered returns the reply for a call that failed. A refusal that came as an error is an answer, without an error.
func (c *Client) unanswered(err error) (Reply, error) {
	f := FaultOf(err)
	if f == nil { // the context ended
		f = &assay.Fault{Class: assay.FaultUnknown, Code: "interrupted"}
	}
	reply := Reply{Outcome: faulty(*f), Unsent: Unsent(err)}
	var call *callError
	if errors.As(err, &call) {
		reply.Raw, reply.Rate = call.body, call.rate
	}
	if reply.Outcome.Ending == assay.Refused {
		return reply, nil
	}
	return reply, fmt.Errorf("ask: %w", err)
}

func faulty(f assay.Fault) assay.Outcome {
	return assay.Outcome{Ending: dialect.EndingOf(f), Fault: &f, RequestID: f.RequestID}
}
