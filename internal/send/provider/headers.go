package provider

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// requestID returns the provider's id of a call, by whichever header it uses.
func requestID(h http.Header) string {
	for _, name := range [...]string{"Request-Id", "X-Request-Id", "Apim-Request-Id", "X-Goog-Request-Id", "X-Amzn-Requestid",
		"X-Amz-Request-Id"} {
		if v := field(h, name); v != "" {
			return clip(v, 128)
		}
	}
	return ""
}

// RetryAfter returns how long the headers ask us to stay away. A date is read against the server's own clock.
func RetryAfter(h http.Header) time.Duration {
	if v := cmp.Or(field(h, "Retry-After-Ms"), field(h, "X-Amz-Retry-After")); v != "" {
		if ms, err := strconv.ParseFloat(v, 64); err == nil && ms > 0 {
			return seconds(ms / 1000)
		}
	}
	v := field(h, "Retry-After")
	if v == "" {
		return 0
	}
	if s, err := strconv.ParseFloat(v, 64); err == nil {
		return seconds(s)
	}
	if at, err := http.ParseTime(v); err == nil {
		return sane(since(h, at))
	}
	return 0
}

// rateOf reads the limits a reply states, whichever family of headers it uses. Mistral calls the limit on tokens by size,
// Together by another name; some call that on requests by no name.
func rateOf(h http.Header) Rate {
	return Rate{
		Requests: window(h,
			limit{"Anthropic-Ratelimit-Requests-Limit", "Anthropic-Ratelimit-Requests-Remaining", "Anthropic-Ratelimit-Requests-Reset"},
			limit{"X-Ratelimit-Limit-Requests", "X-Ratelimit-Remaining-Requests", "X-Ratelimit-Reset-Requests"},
			limit{"X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset"}),
		Tokens: window(h,
			limit{"Anthropic-Ratelimit-Tokens-Limit", "Anthropic-Ratelimit-Tokens-Remaining", "Anthropic-Ratelimit-Tokens-Reset"},
			limit{"X-Ratelimit-Limit-Tokens", "X-Ratelimit-Remaining-Tokens", "X-Ratelimit-Reset-Tokens"},
			limit{"X-Ratelimitbysize-Limit-Minute", "X-Ratelimitbysize-Remaining-Minute", "Ratelimitbysize-Reset"},
			limit{"Ratelimitbysize-Limit", "Ratelimitbysize-Remaining", "Ratelimitbysize-Reset"},
			limit{"X-Tokenlimit-Limit", "X-Tokenlimit-Remaining", "X-Ratelimit-Reset"}),
		Input: window(h,
			limit{"Anthropic-Ratelimit-Input-Tokens-Limit", "Anthropic-Ratelimit-Input-Tokens-Remaining",
				"Anthropic-Ratelimit-Input-Tokens-Reset"},
			limit{"X-Ratelimit-Limit-Input-Tokens", "X-Ratelimit-Remaining-Input-Tokens", "X-Ratelimit-Reset-Input-Tokens"}),
		Output: window(h,
			limit{"Anthropic-Ratelimit-Output-Tokens-Limit", "Anthropic-Ratelimit-Output-Tokens-Remaining",
				"Anthropic-Ratelimit-Output-Tokens-Reset"},
			limit{"X-Ratelimit-Limit-Output-Tokens", "X-Ratelimit-Remaining-Output-Tokens", "X-Ratelimit-Reset-Output-Tokens"}),
		RetryAfter: RetryAfter(h),
	}
}

// limit names the headers of one limit, as net/http spells them: so they are found without a copy, which counts when
// there is a reply every tenth of a millisecond.
type limit struct{ most, left, reset string }

// window reads the first limit that the headers state.
func window(h http.Header, names ...limit) Window {
	for _, n := range names {
		if v := field(h, n.left); v != "" {
			if w := windowOf(h, field(h, n.most), v, cmp.Or(field(h, n.reset), field(h, "X-Ratelimit-Reset"))); w.Known {
				return w
			}
		}
	}
	return Window{}
}

// field returns a header by its name as net/http spells it.
func field(h http.Header, name string) string {
	if v := h[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

func windowOf(h http.Header, limit, remaining, reset string) Window {
	left, err := strconv.ParseFloat(remaining, 64) // some send fractions
	if err != nil || !(left >= 0 && left < 1e15) {
		return Window{}
	}
	most, _ := strconv.ParseFloat(limit, 64)
	if !(most >= 0 && most < 1e15) {
		most = 0
	}
	return Window{Known: true, Limit: int64(most), Remaining: int64(left), Reset: resetOf(h, reset)}
}

// resetOf reads a reset time: a duration such as 6m0s, bare seconds, or a moment in one of three spellings.
func resetOf(h http.Header, v string) time.Duration {
	if d, err := time.ParseDuration(v); err == nil {
		return sane(d)
	}
	if s, err := strconv.ParseFloat(v, 64); err == nil {
		switch {
		case s > 1e12: // Unix milliseconds
			return sane(since(h, time.UnixMilli(int64(min(s, 1e15)))))
		case s > 1e9: // Unix seconds
			return sane(since(h, time.Unix(int64(s), 0)))
		}
		return seconds(s)
	}
	if at, err := time.Parse(time.RFC3339, v); err == nil {
		return sane(since(h, at))
	}
	return 0
}

// since returns how far a moment lies ahead of the server's clock; 0 where the server does not send its time. Both come in
// whole seconds: a moment ahead may be up to one more away.
func since(h http.Header, at time.Time) time.Duration {
	now, err := http.ParseTime(h.Get("date"))
	if err != nil {
		return 0
	}
	if ahead := at.Sub(now); ahead > 0 && at.Nanosecond() == 0 {
		return min(ahead, maxWait) + time.Second
	}
	return at.Sub(now)
}

// seconds returns a wait of so many seconds, whatever a header claims.
func seconds(s float64) time.Duration {
	if !(s > 0) { // not a number, too
		return 0
	}
	return time.Duration(min(s, maxWait.Seconds()) * float64(time.Second))
}

// maxWait is the longest wait a header can ask for.
const maxWait = 24 * time.Hour

func sane(d time.Duration) time.Duration { return min(max(d, 0), maxWait) }

func clip(s string, n int) string {
	s = strings.ToValidUTF8(s, "")
	if len(s) > n {
		return s[:n]
	}
	return s
}
