package provider

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"assay/internal/assay"
	"assay/internal/send/dialect"
)

// Streamer is the power of an Asker to hand an answer on while it comes, where its dialect can be streamed.
type Streamer interface {
	// Stream is Ask, and calls each with every event in its order. The reply is that of the whole answer, put together. A
	// stream that ends before the answer does is an error, and may be billed.
	Stream(ctx context.Context, r *assay.Request, each func(StreamEvent)) (Reply, error)
}

// StreamEvent is an event as it came, and what it adds to the answer. Its data is the caller's until it returns.
type StreamEvent struct {
	Name  string
	Data  []byte
	Delta dialect.Delta
}

// StreamCall is where a stream is asked for.
type StreamCall struct {
	Path  string
	Query url.Values
	Plain bool // the server always reports usage, and is not asked to
}

// streamStall is how long a stream may pause: models think without sending anything.
const streamStall = 10 * time.Minute

// Stream makes one live call and hands its events on.
func (c *Client) Stream(ctx context.Context, at StreamCall, r *assay.Request, each func(StreamEvent)) (Reply, error) {
	body, err := dialect.AppendBody(nil, r)
	if err != nil {
		f := assay.Fault{Class: assay.FaultInvalid, Code: "not_sent", Message: assay.Clean(err.Error(), maxWords)}
		return Reply{Outcome: faulty(f), Unsent: true}, fmt.Errorf("ask: %w", &f)
	}
	body = dialect.AppendStreamed(nil, body, r.Wire.Dialect, !at.Plain)
	call, hangUp := context.WithCancel(ctx)
	defer hangUp()
	resp, err := c.Do(call, Call{
		Method: "POST", Path: at.Path, Query: at.Query, Type: "application/json", Body: bytes.NewReader(body), Length: int64(len(body)),
		unhurried: true,
	})
	if err != nil {
		return c.unanswered(err)
	}
	defer resp.Body.Close()
	reply := Reply{Rate: rateOf(resp.Header)}
	if kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";"); strings.TrimSpace(kind) == "text/event-stream" {
		reply.Raw, err = c.events(ctx, resp, hangUp, dialect.NewStream(r.Wire.Dialect), each)
	} else {
		reply.Raw, err = c.readLive(ctx, resp, hangUp) // a server that does not stream
	}
	if err != nil {
		failed, err := c.unanswered(err)
		failed.Rate = reply.Rate
		return failed, err
	}
	reply.Outcome = c.decode(r.Wire.Dialect, reply.Raw)
	reply.Outcome.RequestID = cmp.Or(requestID(resp.Header), reply.Outcome.RequestID)
	if f := reply.Outcome.Fault; f != nil && reply.Outcome.Ending != assay.Refused {
		return reply, fmt.Errorf("ask: %w", f)
	}
	return reply, nil
}

// events reads a stream to its end, and returns the whole reply.
func (c *Client) events(ctx context.Context, resp *http.Response, hangUp func(), s *dialect.Stream,
	each func(StreamEvent)) ([]byte, error) {
	var stalled atomic.Bool
	wait := cmp.Or(c.stall, streamStall)
	timer := time.AfterFunc(wait, func() { stalled.Store(true); hangUp() })
	defer timer.Stop()
	in := bufio.NewScanner(io.LimitReader(resp.Body, maxReply+1))
	in.Buffer(make([]byte, 0, 16<<10), maxReply)
	var e StreamEvent
	var data []byte
	for in.Scan() {
		timer.Reset(wait)
		line := in.Bytes()
		if len(line) > 0 {
			name, value, _ := bytes.Cut(line, []byte(":"))
			switch value = bytes.TrimPrefix(value, []byte(" ")); string(name) {
			case "event":
				e.Name = string(value)
			case "data":
				data = append(append(data, value...), '\n')
			}
			continue
		}
		if len(data) > 0 {
			var err error
			e.Data = data[:len(data)-1]
			if e.Delta, err = s.Add(e.Data); err != nil {
				return nil, c.answerError(resp, "the stream cannot be read", err)
			}
			each(e)
		}
		e, data = StreamEvent{}, data[:0]
	}
	if raw, whole := s.Reply(); whole {
		return raw, nil // what comes after the end of an answer is not missed
	}
	err := in.Err()
	switch {
	case stalled.Load():
		err = fmt.Errorf("nothing more of the answer came for %s", wait)
	case err == nil:
		err = io.ErrUnexpectedEOF
	}
	return nil, c.transportError(ctx, resp.Request, err)
}
