package backend

import (
	"net/http"
	"sync"
	"time"

	"assay/internal/simulator/rules"
)

// Meter counts what an account has left this minute.
type Meter struct {
	Requests, RequestsLeft int
	Tokens, TokensLeft     int
	Reset                  time.Duration
	ResetAt                time.Time
}

// meterBook counts live calls by account and minute.
type meterBook struct {
	limits Limits
	mu     sync.Mutex
	spent  map[string]*minute
}

type minute struct {
	since            time.Time
	requests, tokens int
}

func newMeterBook(l Limits) *meterBook { return &meterBook{limits: l, spent: map[string]*minute{}} }

// take books one request of so many tokens, or rejects it.
func (b *meterBook) take(account string, tokens int, now time.Time) (Meter, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := b.spent[account]
	if m == nil || now.Sub(m.since) >= time.Minute {
		m = &minute{since: now}
		b.spent[account] = m
	}
	l := b.limits
	fits := (l.Requests == 0 || m.requests < l.Requests) && (l.Tokens == 0 || m.tokens+tokens <= l.Tokens)
	if fits {
		m.requests++
		m.tokens += tokens
	}
	at := m.since.Add(time.Minute)
	return Meter{
		Requests: l.Requests, RequestsLeft: max(l.Requests-m.requests, 0),
		Tokens: l.Tokens, TokensLeft: max(l.Tokens-m.tokens, 0),
		Reset: at.Sub(now), ResetAt: at,
	}, fits
}

// metered books a live call and writes the vendor's rate headers. It answers the call itself when it does not fit.
func (c *Call) metered(tokens int) bool {
	l := c.s.opts.Limits
	if l.Requests == 0 && l.Tokens == 0 {
		return true
	}
	m, fits := c.s.meter.take(c.Vendor.Name+" "+c.Account, tokens, c.Now)
	if c.Vendor.Rate != nil {
		c.Vendor.Rate(c.Writer.Header(), m)
	}
	if !fits {
		c.Fail(rules.Plain(http.StatusTooManyRequests, max(m.Reset, time.Second)))
	}
	return fits
}
