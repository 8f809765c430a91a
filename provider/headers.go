package provider

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// requestID is the provider's id of a call, by whichever header it uses.
func requestID(h http.Header) string {
	for _, name := range []string{"request-id", "x-request-id", "apim-request-id", "x-goog-request-id"} {
		if v := h.Get(name); v != "" {
			return clip(v, 128)
		}
	}
	return ""
}

// retryAfter is how long the headers ask us to stay away. A date is read against the server's own clock.
func retryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("retry-after-ms"), 64); err == nil && ms > 0 {
		return seconds(ms / 1000)
	}
	v := h.Get("retry-after")
	if s, err := strconv.ParseFloat(v, 64); err == nil {
		return seconds(s)
	}
	if at, err := http.ParseTime(v); err == nil {
		return sane(since(h, at))
	}
	return 0
}

// rateOf reads the limits a reply tells, whichever family of headers it uses.
func rateOf(h http.Header) Rate {
	return Rate{
		Requests:   requestWindow(h),
		Tokens:     tokenWindow(h),
		Input:      window(h, "input-tokens"),
		Output:     window(h, "output-tokens"),
		RetryAfter: retryAfter(h),
	}
}

// requestWindow reads the limit on requests; some call it by no name.
func requestWindow(h http.Header) Window {
	if w := window(h, "requests"); w.Known {
		return w
	}
	return windowOf(h, h.Get("x-ratelimit-limit"), h.Get("x-ratelimit-remaining"), h.Get("x-ratelimit-reset"))
}

// tokenWindow reads the limit on tokens; Mistral calls it by size, Together by another name.
func tokenWindow(h http.Header) Window {
	if w := window(h, "tokens"); w.Known {
		return w
	}
	first := func(names ...string) string {
		for _, n := range names {
			if v := h.Get(n); v != "" {
				return v
			}
		}
		return ""
	}
	return windowOf(h, first("x-ratelimitbysize-limit-minute", "ratelimitbysize-limit", "x-tokenlimit-limit"),
		first("x-ratelimitbysize-remaining-minute", "ratelimitbysize-remaining", "x-tokenlimit-remaining"),
		first("ratelimitbysize-reset", "x-ratelimit-reset"))
}

// window reads one limit: anthropic-ratelimit-requests-remaining, or x-ratelimit-remaining-requests.
func window(h http.Header, of string) Window {
	field := func(what string) string {
		if v := h.Get("anthropic-ratelimit-" + of + "-" + what); v != "" {
			return v
		}
		return h.Get("x-ratelimit-" + what + "-" + of)
	}
	return windowOf(h, field("limit"), field("remaining"), field("reset"))
}

func windowOf(h http.Header, limit, remaining, reset string) Window {
	left, err := strconv.ParseFloat(remaining, 64) // some tell fractions
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

// since is how far a moment lies ahead of the server's clock; 0 where the server does not tell its time. Both are told in
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

// seconds is a wait of so many seconds, whatever a header claims.
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
