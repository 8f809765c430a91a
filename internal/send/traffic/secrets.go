package traffic

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"assay/internal/study/catalog"
)

// stars replaces a secret.
const stars = "****"

// secrets knows what must not be shown, and takes it out of texts.
type secrets struct {
	known   []string
	longest int // bytes of the longest of them
	pattern *regexp.Regexp
}

// minSecret is the shortest text that is looked for everywhere: shorter ones would tear holes into every message.
const minSecret = 8

// hide remembers a text, and the forms that others may write it in.
func (s *secrets) hide(text string) {
	if len(text) < minSecret || slices.Contains(s.known, text) {
		return
	}
	quoted, _ := json.Marshal(text) // a string always marshals
	forms := []string{text, url.QueryEscape(text), url.PathEscape(text), strings.Trim(string(quoted), `"`),
		base64.StdEncoding.EncodeToString([]byte(text))}
	for _, f := range forms {
		if !slices.Contains(s.known, f) {
			s.known = append(s.known, f)
			s.longest = max(s.longest, len(f))
		}
	}
	// The longest first: a key may be the beginning of another.
	ordered := slices.SortedFunc(slices.Values(s.known), func(a, b string) int { return len(b) - len(a) })
	for i := range ordered {
		ordered[i] = regexp.QuoteMeta(ordered[i])
	}
	s.pattern = regexp.MustCompile("(?i)" + strings.Join(ordered, "|"))
}

// learn remembers what a request carries that is secret.
func (s *secrets) learn(req *http.Request) {
	for name, values := range req.Header {
		if openHeader(name) {
			continue
		}
		for _, v := range values {
			s.hide(v[strings.IndexByte(v, ' ')+1:]) // without the word Bearer
		}
	}
	for name, values := range req.URL.Query() {
		if secretName(name) {
			for _, v := range values {
				s.hide(v)
			}
		}
	}
}

// openHeader reports whether a header of a request may be shown. Every header that is not known to be open is secret.
func openHeader(name string) bool {
	name = strings.ToLower(name)
	switch name {
	case "accept", "accept-encoding", "content-type", "content-length", "content-range", "range", "user-agent":
		return true
	}
	return catalog.Default().OpenHeader(name)
}

// secretName reports whether a header of a reply, or a parameter, may hold a secret by its name.
func secretName(name string) bool {
	name = strings.ToLower(name)
	if strings.Contains(name, "ratelimit") {
		return false
	}
	for _, word := range []string{"auth", "key", "cookie", "token", "secret", "sig", "credential", "password", "session"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

var (
	// escaped are letters of ASCII that JSON need not escape.
	escaped = regexp.MustCompile(`\\u00[2-7][0-9a-fA-F]`)
	queries = regexp.MustCompile(`(https?://[^\s"'<>?\\]+)\?[^\s"'<>\\]*`)
	fields  = regexp.MustCompile(
		`(?i)("(?:access_token|id_token|refresh_token|api_?key|client_secret|private_key|password|assertion)"\s*:\s*)"[^"]*"?`)
)

// keyForms are how keys of providers begin: of those in the catalogue, and of a few others.
var keyForms = sync.OnceValue(func() *regexp.Regexp {
	forms := []string{"sk_", "pplx-"}
	for _, f := range catalog.Default().KeyForms() {
		forms = append(forms, regexp.QuoteMeta(f))
	}
	return regexp.MustCompile(`\b(?:` + strings.Join(forms, "|") + `)[A-Za-z0-9_.\-]{12,}`)
})

// scrub takes out what is known to be secret, and what looks like it: keys of known forms, fields that are named so, and the
// queries of URLs.
func (s *secrets) scrub(text string) string {
	text = escaped.ReplaceAllStringFunc(text, func(e string) string {
		n, _ := strconv.ParseUint(e[2:], 16, 8) // four digits, the first two 0
		return string(rune(n))
	})
	if s.pattern != nil {
		text = s.pattern.ReplaceAllLiteralString(text, stars)
	}
	text = queries.ReplaceAllString(text, "$1?"+stars)
	text = fields.ReplaceAllString(text, "${1}"+stars)
	return keyForms().ReplaceAllLiteralString(text, stars)
}

// place returns a URL without the values of its query.
func (s *secrets) place(u *url.URL) string {
	text := s.scrub(u.Scheme + "://" + u.Host + u.EscapedPath())
	names := []string{}
	for name := range u.Query() {
		names = append(names, url.QueryEscape(s.scrub(name))+"="+stars)
	}
	if slices.Sort(names); len(names) > 0 {
		text += "?" + strings.Join(names, "&")
	}
	return text
}
