package wire

import (
	"net/http"
	"strconv"
	"time"

	"assay/internal/simulator/backend"
)

// openAIRate writes x-ratelimit-*; resets are durations as Go writes them.
func openAIRate(h http.Header, m backend.Meter) {
	if m.Requests > 0 {
		h.Set("X-Ratelimit-Limit-Requests", strconv.Itoa(m.Requests))
		h.Set("X-Ratelimit-Remaining-Requests", strconv.Itoa(m.RequestsLeft))
		h.Set("X-Ratelimit-Reset-Requests", m.Reset.String())
	}
	if m.Tokens > 0 {
		h.Set("X-Ratelimit-Limit-Tokens", strconv.Itoa(m.Tokens))
		h.Set("X-Ratelimit-Remaining-Tokens", strconv.Itoa(m.TokensLeft))
		h.Set("X-Ratelimit-Reset-Tokens", m.Reset.String())
	}
}

// anthropicRate writes anthropic-ratelimit-*; resets are points in time, tokens are rounded to thousands.
func anthropicRate(h http.Header, m backend.Meter) {
	at := m.ResetAt.UTC().Format(time.RFC3339)
	if m.Requests > 0 {
		h.Set("Anthropic-Ratelimit-Requests-Limit", strconv.Itoa(m.Requests))
		h.Set("Anthropic-Ratelimit-Requests-Remaining", strconv.Itoa(m.RequestsLeft))
		h.Set("Anthropic-Ratelimit-Requests-Reset", at)
	}
	if m.Tokens > 0 {
		for _, which := range []string{"Tokens", "Input-Tokens"} {
			h.Set("Anthropic-Ratelimit-"+which+"-Limit", strconv.Itoa(m.Tokens))
			h.Set("Anthropic-Ratelimit-"+which+"-Remaining", strconv.Itoa((m.TokensLeft+500)/1000*1000))
			h.Set("Anthropic-Ratelimit-"+which+"-Reset", at)
		}
	}
}

// mistralRate writes the headers by size.
func mistralRate(h http.Header, m backend.Meter) {
	if m.Tokens > 0 {
		h.Set("X-Ratelimitbysize-Limit-Minute", strconv.Itoa(m.Tokens))
		h.Set("X-Ratelimitbysize-Remaining-Minute", strconv.Itoa(m.TokensLeft))
		h.Set("Ratelimitbysize-Reset", strconv.Itoa(int(m.Reset.Seconds())))
	}
}
