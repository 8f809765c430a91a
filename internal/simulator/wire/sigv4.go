package wire

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/url"
	"sort"
	"strings"

	"assay/internal/simulator/backend"
	"assay/internal/simulator/rules"
)

// signature is an Authorization header of Signature Version 4. In the simulator the secret of a key is the key's id.
type signature struct {
	id, date, region, service string
	headers                   []string
	sum                       string
}

// signatureOf reads the header; false where it is none.
func signatureOf(r *http.Request) (s signature, ok bool) {
	rest, ok := strings.CutPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ")
	if !ok {
		return s, false
	}
	for part := range strings.SplitSeq(rest, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "Credential":
			f := strings.Split(value, "/")
			if n := len(f); n >= 5 && f[n-1] == "aws4_request" {
				s.id, s.date, s.region, s.service = strings.Join(f[:n-4], "/"), f[n-4], f[n-3], f[n-2]
			}
		case "SignedHeaders":
			s.headers = strings.Split(value, ";")
		case "Signature":
			s.sum = value
		}
	}
	return s, s.id != "" && s.sum != "" && len(s.headers) > 0
}

// awsKey returns the id of the key that signed a call, or else a bearer.
func awsKey(r *http.Request) string {
	if s, ok := signatureOf(r); ok {
		return s.id
	}
	return backend.Bearer(r)
}

// made returns the signature that the request should have. The body's digest is taken from the client.
func (s signature) made(r *http.Request, body string) string {
	path := r.URL.EscapedPath()
	if s.service == "s3" { // as it is meant; all others escape what was sent once more
		path = r.URL.Path
	}
	var lines strings.Builder
	for _, name := range s.headers {
		value := strings.Join(r.Header.Values(name), ",")
		if name == "host" {
			value = r.Host
		}
		lines.WriteString(name + ":" + strings.Join(strings.Fields(value), " ") + "\n")
	}
	canonical := strings.Join([]string{r.Method, awsEscape(path, "/"), awsQuery(r.URL.Query()), lines.String(),
		strings.Join(s.headers, ";"), body}, "\n")
	digest := sha256.Sum256([]byte(canonical))
	scope := strings.Join([]string{s.date, s.region, s.service, "aws4_request"}, "/")
	key := []byte("AWS4" + s.id)
	for _, text := range []string{s.date, s.region, s.service, "aws4_request",
		"AWS4-HMAC-SHA256\n" + r.Header.Get("X-Amz-Date") + "\n" + scope + "\n" + hex.EncodeToString(digest[:])} {
		h := hmac.New(sha256.New, key)
		h.Write([]byte(text))
		key = h.Sum(nil)
	}
	return hex.EncodeToString(key)
}

// awsEscape escapes all but letters, digits, four marks and what is let through.
func awsEscape(s, let string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~"+let, c) >= 0 {
			b.WriteByte(c)
		} else {
			b.WriteString("%" + strings.ToUpper(hex.EncodeToString([]byte{c})))
		}
	}
	return b.String()
}

func awsQuery(q url.Values) string {
	var pairs []string
	for name, values := range q {
		for _, v := range values {
			pairs = append(pairs, awsEscape(name, "")+"="+awsEscape(v, ""))
		}
	}
	sort.Strings(pairs)
	return strings.Join(pairs, "&")
}

// signedAs refuses a call whose signature for a service is wrong. A call with a bearer has none. The body of a small call is
// held against its digest.
func signedAs(service string, c *backend.Call) *rules.Rejection {
	s, ok := signatureOf(c.Request)
	if !ok {
		return nil
	}
	body := c.Request.Header.Get("X-Amz-Content-Sha256")
	if service != "s3" {
		raw := c.Bytes(backend.MaxLive)
		c.Request.Body = io.NopCloser(bytes.NewReader(raw))
		sum := sha256.Sum256(raw)
		body = hex.EncodeToString(sum[:])
	}
	if s.service != service || !strings.HasPrefix(c.Request.Header.Get("X-Amz-Date"), s.date) || s.made(c.Request, body) != s.sum {
		return &rules.Rejection{Status: http.StatusForbidden, Type: "InvalidSignatureException", Code: "SignatureDoesNotMatch",
			Message: "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key " +
				"and signing method."}
	}
	return nil
}
