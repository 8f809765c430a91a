package backend

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"time"

	"assay/internal/assay"
	"assay/internal/simulator/bodies"
	"assay/internal/simulator/dice"
	"assay/internal/simulator/rules"
	"assay/internal/simulator/spill"

	"github.com/valyala/fastjson"
)

// MaxLive bounds the body of a live call.
const MaxLive = 32 << 20

// Ask answers a live call, in a stream where its body wants one. model is given where the path names it.
func (c *Call) Ask(d Dialect, model string) { c.ask(d, model, false) }

// AskStreamed answers a live call whose path wants a stream.
func (c *Call) AskStreamed(d Dialect, model string) { c.ask(d, model, true) }

func (c *Call) ask(d Dialect, model string, byPath bool) {
	arrived := time.Now()
	raw := c.Bytes(MaxLive)
	if raw == nil {
		return
	}
	body, err := fastjson.ParseBytes(raw)
	if err != nil || body.Type() != fastjson.TypeObject {
		c.Fail(rules.Invalid("", "invalid_json", "We could not parse the JSON body of your request."))
		return
	}
	q, rej := d.Read(bodies.Reading{Vendor: c.Vendor.Name, Caches: c.Vendor.Caches, Model: model, Rules: c.s.opts.Rules,
		Uploads: c.s.uploads(c.Vendor, c.Account, c.Now)}, body)
	if rej != nil {
		c.Fail(rej)
		return
	}
	streamer, can := d.(Streamer)
	byBody := body.GetBool("stream")
	if byBody && !can {
		c.Fail(rules.Invalid("stream", "unsupported_value", "The simulator answers this call whole: streaming is not simulated."))
		return
	}
	if byBody {
		raw = unstreamed(raw) // the answer is that of the same call without a stream
	}
	if !c.metered(bodies.PromptTokens(&q) + q.MaxTokens) {
		return
	}
	if err := c.draw(&q, raw); err != nil { // from here on it is billed, also where the client goes away
		c.Trouble(err)
		return
	}
	r := c.s.complete(&q, c.s.warm.known(c.Account, c.Now), c.Now)
	if c.s.opts.Charged != nil {
		sum := sha256.Sum256(raw)
		c.s.opts.Charged(bodies.Charge{Vendor: c.Vendor.Name, Model: q.Model, ID: hex.EncodeToString(sum[:16]), Tier: q.Tier,
			When: c.Now, Usage: r.Usage})
	}
	c.wait(max(c.s.opts.Latency-time.Since(arrived), 0) + c.slow)
	whole := d.Write(nil, &q, r)
	if can && (byBody || byPath) {
		events := streamer.Stream(whole, body)
		switch framer, own := d.(Framer); {
		case own:
			c.stream("application/vnd.amazon.eventstream", len(events), func(i int) []byte { return framer.Frame(events[i]) })
		case byBody || c.Request.URL.Query().Get("alt") == "sse":
			c.stream("text/event-stream", len(events), func(i int) []byte { return eventText(events[i]) })
		default:
			c.stream("application/json", len(events), func(i int) []byte { return listedText(events[i], i, len(events)) })
		}
		return
	}
	c.Send(http.StatusOK, "application/json", whole)
}

// unstreamed returns a body without the wish for a stream.
func unstreamed(raw []byte) []byte {
	body, err := fastjson.ParseBytes(raw)
	if err != nil {
		return raw
	}
	body.Del("stream")
	body.Del("stream_options")
	return body.MarshalTo(nil)
}

// stream sends events one by one; with a client that went away it ends. The call was billed before.
func (c *Call) stream(mime string, n int, event func(int) []byte) {
	c.Writer.Header().Set("Content-Type", mime)
	c.Writer.WriteHeader(http.StatusOK)
	flush := http.NewResponseController(c.Writer)
	for i := range n {
		if _, err := c.Writer.Write(event(i)); err != nil {
			return
		}
		_ = flush.Flush() // where it cannot be, all comes at once
	}
}

// eventText returns an event as a server sends it.
func eventText(e bodies.Event) []byte {
	text := ""
	if e.Name != "" {
		text = "event: " + e.Name + "\n"
	}
	return []byte(text + "data: " + string(e.Data) + "\n\n")
}

// listedText returns an event as an element of a JSON list.
func listedText(e bodies.Event, i, n int) []byte {
	before, after := ",\n", ""
	if i == 0 {
		before = "["
	}
	if i == n-1 {
		after = "]"
	}
	return []byte(before + string(e.Data) + after)
}

// draw bills a live question and draws where its answer comes from. A body asked again gets another answer.
func (c *Call) draw(q *bodies.Request, raw []byte) error {
	sum := sha256.Sum256(raw)
	before, err := c.s.live.Add(spill.Counted{Vendor: c.Vendor.number, Digest: [16]byte(sum[:16])})
	if err != nil {
		return fmt.Errorf("count a live call: %w", err)
	}
	q.Draw = dice.Mix(dice.HashBytes(dice.Hash(c.s.opts.Seed, q.Model), raw) ^ dice.Mix(uint64(before)))
	if e, ok := c.Effect("refuse"); ok {
		q.Refuse = dice.Chance(e.Roll^0x4ef) < e.Share
	}
	return nil
}

// keyPart returns the part of a custom id that stays the same when a request is sent again: our own ids carry a nonce in front
// of the key; of others the whole id.
func keyPart(id string) string {
	if _, k, err := assay.ParseCustomID(id); err == nil {
		return k.String()
	}
	return id
}

// complete has the responder answer, and remembers which model was asked.
func (s *Service) complete(q *bodies.Request, known func(uint64) bool, now time.Time) *bodies.Reply {
	if q.Vector == 0 {
		s.asked.add(q.Model)
	}
	return q.Complete(s.opts.Responder, known, now)
}
