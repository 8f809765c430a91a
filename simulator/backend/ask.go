package backend

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"time"

	"assay"
	"assay/simulator/bodies"
	"assay/simulator/dice"
	"assay/simulator/spill"

	"github.com/valyala/fastjson"
)

func (s *Service) reading(j *Job, in Carried) bodies.Reading {
	return bodies.Reading{Vendor: j.Vendor.Name, Caches: j.Vendor.Caches, Model: in.Model, Rules: s.opts.Rules, Batch: true}
}

// MaxLive bounds the body of a live call.
const MaxLive = 32 << 20

// Ask answers a live call. model is given where the path names it.
func (c *Call) Ask(d Dialect, model string) {
	arrived := time.Now()
	raw := c.Bytes(MaxLive)
	if raw == nil {
		return
	}
	body, err := fastjson.ParseBytes(raw)
	if err != nil || body.Type() != fastjson.TypeObject {
		c.Fail(bodies.Invalid("", "invalid_json", "We could not parse the JSON body of your request."))
		return
	}
	q, rej := d.Read(bodies.Reading{Vendor: c.Vendor.Name, Caches: c.Vendor.Caches, Model: model, Rules: c.s.opts.Rules}, body)
	if rej != nil {
		c.Fail(rej)
		return
	}
	if body.GetBool("stream") {
		c.Fail(bodies.Invalid("stream", "unsupported_value", "The simulator answers whole: streaming is not simulated."))
		return
	}
	if !c.metered(bodies.PromptTokens(&q) + q.MaxTokens) {
		return
	}
	if err := c.draw(&q, raw); err != nil { // from here on it is billed, also where the client goes away
		c.Trouble(err)
		return
	}
	c.wait(max(c.s.opts.Latency-time.Since(arrived), 0) + c.slow)
	r := c.s.complete(&q, c.s.warm.known(c.Account, c.Now), c.Now)
	c.Send(http.StatusOK, "application/json", d.Write(nil, &q, r))
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

// keyPart is the part of a custom id that stays the same when a request is sent again: our own ids carry a nonce in front
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
