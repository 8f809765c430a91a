package simulator

import (
	"net/http"
	"strconv"
	"sync"
	"time"
)

// meter is what an account has left this minute.
type meter struct {
	requests, requestsLeft int
	tokens, tokensLeft     int
	reset                  time.Duration
	resetAt                time.Time
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

// take books one request of so many tokens, or says that it does not fit.
func (b *meterBook) take(account string, tokens int, now time.Time) (meter, bool) {
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
	return meter{
		requests: l.Requests, requestsLeft: max(l.Requests-m.requests, 0),
		tokens: l.Tokens, tokensLeft: max(l.Tokens-m.tokens, 0),
		reset: at.Sub(now), resetAt: at,
	}, fits
}

// metered books a live call and writes the vendor's rate headers. It answers the call itself when it does not fit.
func (c *call) metered(tokens int) bool {
	l := c.s.opts.Limits
	if l.Requests == 0 && l.Tokens == 0 {
		return true
	}
	m, fits := c.s.meter.take(c.v.name+" "+c.account, tokens, c.now)
	if c.v.rate != nil {
		c.v.rate(c.w.Header(), m)
	}
	if !fits {
		c.fail(plain(http.StatusTooManyRequests, max(m.reset, time.Second)))
	}
	return fits
}

// openAIRate writes x-ratelimit-*; resets are durations as Go writes them.
func openAIRate(h http.Header, m meter) {
	if m.requests > 0 {
		h.Set("X-Ratelimit-Limit-Requests", strconv.Itoa(m.requests))
		h.Set("X-Ratelimit-Remaining-Requests", strconv.Itoa(m.requestsLeft))
		h.Set("X-Ratelimit-Reset-Requests", m.reset.String())
	}
	if m.tokens > 0 {
		h.Set("X-Ratelimit-Limit-Tokens", strconv.Itoa(m.tokens))
		h.Set("X-Ratelimit-Remaining-Tokens", strconv.Itoa(m.tokensLeft))
		h.Set("X-Ratelimit-Reset-Tokens", m.reset.String())
	}
}

// anthropicRate writes anthropic-ratelimit-*; resets are points in time, tokens are rounded to thousands.
func anthropicRate(h http.Header, m meter) {
	at := m.resetAt.UTC().Format(time.RFC3339)
	if m.requests > 0 {
		h.Set("Anthropic-Ratelimit-Requests-Limit", strconv.Itoa(m.requests))
		h.Set("Anthropic-Ratelimit-Requests-Remaining", strconv.Itoa(m.requestsLeft))
		h.Set("Anthropic-Ratelimit-Requests-Reset", at)
	}
	if m.tokens > 0 {
		for _, which := range []string{"Tokens", "Input-Tokens"} {
			h.Set("Anthropic-Ratelimit-"+which+"-Limit", strconv.Itoa(m.tokens))
			h.Set("Anthropic-Ratelimit-"+which+"-Remaining", strconv.Itoa((m.tokensLeft+500)/1000*1000))
			h.Set("Anthropic-Ratelimit-"+which+"-Reset", at)
		}
	}
}

// mistralRate writes the headers by size.
func mistralRate(h http.Header, m meter) {
	if m.tokens > 0 {
		h.Set("X-Ratelimitbysize-Limit-Minute", strconv.Itoa(m.tokens))
		h.Set("X-Ratelimitbysize-Remaining-Minute", strconv.Itoa(m.tokensLeft))
		h.Set("Ratelimitbysize-Reset", strconv.Itoa(int(m.reset.Seconds())))
	}
}
