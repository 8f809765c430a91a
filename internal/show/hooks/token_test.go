package hooks_test

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"assay/internal/show/hooks"
)

// issuer makes tokens as a provider does.
type issuer struct {
	t   *testing.T
	key *rsa.PrivateKey
}

func newIssuer(t *testing.T) issuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return issuer{t, key}
}

func (i issuer) keys(id string) string {
	n := base64.RawURLEncoding.EncodeToString(i.key.N.Bytes())
	e := base64.RawURLEncoding.EncodeToString(big.NewInt(int64(i.key.E)).Bytes())
	return `{"keys":[{"kty":"EC","kid":"other","crv":"P-256"},{"kty":"RSA","kid":"` + id + `","use":"sig","alg":"RS256","n":"` + n + `","e":"` + e + `"}]}`
}

func (i issuer) token(head, claims map[string]any) string {
	i.t.Helper()
	part := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			i.t.Fatal(err)
		}
		return base64.RawURLEncoding.EncodeToString(b)
	}
	text := part(head) + "." + part(claims)
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, i.key, crypto.SHA256, sum[:])
	if err != nil {
		i.t.Fatal(err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

func claims(change map[string]any) map[string]any {
	all := map[string]any{"aud": "https://us.example/gemini", "exp": now.Add(time.Minute).Unix(), "iat": now.Unix()}
	for k, v := range change {
		if all[k] = v; v == nil {
			delete(all, k)
		}
	}
	return all
}

// TestATokenIsVerified sends notices with tokens as Gemini's jobs do, with wrong ones, and ten thousand forged ones.
func TestATokenIsVerified(t *testing.T) {
	t.Parallel()
	theirs, strange := newIssuer(t), newIssuer(t)
	asked, down := 0, false
	woken := make(chan string, 20_000)
	clock := now
	r := hooks.New(map[string]hooks.Verifier{"gemini": {Tokens: &hooks.Tokens{Audience: "https://us.example/gemini",
		Keys: func(context.Context) ([]byte, error) {
			if asked++; down {
				return nil, errors.New("not there")
			}
			return []byte(theirs.keys("k1")), nil
		}}}}, func() time.Time { return clock }, func(_ context.Context, job string) error { woken <- job; return nil })
	go r.Work(t.Context(), func(err error) { t.Error(err) })
	rs := map[string]any{"alg": "RS256", "kid": "k1"}
	send := func(id, token string) int {
		return notice{path: "/gemini", id: id, body: `{"data":{"id":"batches/b1"}}`, at: now, signature: token}.send(r)
	}
	right := theirs.token(rs, claims(nil))
	parts := strings.Split(right, ".")
	none := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","kid":"k1"}`)) + "." + parts[1] + "."
	for name, c := range map[string]struct {
		token string
		want  int
	}{
		"another key":       {strange.token(rs, claims(nil)), 401},
		"a key without id":  {theirs.token(map[string]any{"alg": "RS256"}, claims(nil)), 401},
		"another algorithm": {theirs.token(map[string]any{"alg": "HS256", "kid": "k1"}, claims(nil)), 401},
		"no signature":      {none, 401},
		"other claims":      {parts[0] + "." + base64.RawURLEncoding.EncodeToString([]byte(`{"aud":"x"}`)) + "." + parts[2], 401},
		"another audience":  {theirs.token(rs, claims(map[string]any{"aud": "https://them.example"})), 401},
		"no audience":       {theirs.token(rs, claims(map[string]any{"aud": nil})), 401},
		"no end":            {theirs.token(rs, claims(map[string]any{"exp": nil})), 401},
		"over":              {theirs.token(rs, claims(map[string]any{"exp": now.Add(-6 * time.Minute).Unix()})), 400},
		"not yet":           {theirs.token(rs, claims(map[string]any{"nbf": now.Add(6 * time.Minute).Unix()})), 400},
		"long":              {theirs.token(rs, claims(map[string]any{"x": strings.Repeat("x", 9000)})), 401},
		"an HMAC":           {hooks.Secret(nil).Sign("a", now, []byte("{}")), 401},
	} {
		if code := send("w", c.token); code != c.want {
			t.Errorf("%s: %d, want %d", name, code, c.want)
		}
	}
	for i := range 10_000 {
		token := parts[0] + "." + parts[1] + "." + base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%0256d", i))
		if i%2 == 0 {
			token = base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"alg":"RS256","kid":"forged %d"}`, i)) + "." + parts[1] + "." + parts[2]
		}
		if code := send(fmt.Sprint("f", i), token); code != http.StatusUnauthorized {
			t.Fatalf("forged token %d: %d", i, code)
		}
	}
	if asked > 1 || len(woken) > 0 {
		t.Errorf("forged tokens had the keys asked for %d times, and woke %d polls", asked, len(woken))
	}
	if code := send("first", right); code != http.StatusNoContent {
		t.Errorf("a good token: %d", code)
	}
	if code := send("again", right); code != http.StatusNoContent { // beside another id: it counts once
		t.Errorf("a repeated token: %d", code)
	}
	if code := send("list", theirs.token(rs, claims(map[string]any{"aud": []string{"x", "https://us.example/gemini"}}))); code != 204 {
		t.Errorf("a list of audiences: %d", code)
	}
	if got := []string{<-woken, <-woken}; !slices.Equal(got, []string{"batches/b1", "batches/b1"}) || len(woken) > 0 {
		t.Errorf("woken %v and %d more", got, len(woken))
	}
	clock, down = now.Add(2*time.Hour), true // keys that cannot be read stay as they were
	if code := send("later", theirs.token(rs, claims(map[string]any{"exp": clock.Unix(), "iat": clock.Unix()}))); code != 204 {
		t.Errorf("while the keys cannot be read: %d", code)
	}
	if _, err := hooks.ParseKeys([]byte(`{"keys":[{"kty":"RSA","kid":"short","n":"AQAB","e":"AQAB"}]}`)); err == nil {
		t.Error("a key of 24 bits was taken")
	}
}

// TestForgedTokensHoldUpNobody has the keys asked for by a forged token, and not answered: notices with a key that is known pass, some
// others wait, the rest are refused, and who goes away takes no call with it.
func TestForgedTokensHoldUpNobody(t *testing.T) {
	t.Parallel()
	theirs := newIssuer(t)
	asked, answer := make(chan context.Context, 300), make(chan string, 1)
	answer <- theirs.keys("k1")
	woken := make(chan string, 10)
	clock := now
	var mu sync.Mutex
	r := hooks.New(map[string]hooks.Verifier{"gemini": {Tokens: &hooks.Tokens{Audience: "https://us.example/gemini",
		Keys: func(ctx context.Context) ([]byte, error) {
			asked <- ctx
			return []byte(<-answer), ctx.Err()
		}}}}, func() time.Time { mu.Lock(); defer mu.Unlock(); return clock },
		func(_ context.Context, job string) error { woken <- job; return nil })
	go r.Work(t.Context(), func(err error) { t.Error(err) })
	token := func(kid string, at time.Time) string {
		return theirs.token(map[string]any{"alg": "RS256", "kid": kid}, claims(map[string]any{"exp": at.Add(time.Minute).Unix()}))
	}
	send := func(ctx context.Context, id, token string) int {
		q := httptest.NewRequestWithContext(ctx, http.MethodPost, "/gemini", strings.NewReader(`{"data":{"id":"batches/b1"}}`))
		q.Header.Set("Webhook-Id", id)
		q.Header.Set("Webhook-Signature", token)
		w := httptest.NewRecorder()
		r.ServeHTTP(w, q)
		return w.Code
	}
	if code := send(t.Context(), "first", token("k1", now)); code != http.StatusNoContent {
		t.Fatal(code)
	}
	<-asked
	mu.Lock()
	clock = now.Add(2 * time.Minute)
	mu.Unlock()
	gone, leave := context.WithCancel(t.Context())
	codes := make(chan int, 200)
	go func() { codes <- send(gone, "forged", token("k2", now)) }()
	ctx := <-asked // and no answer comes
	leave()
	if code := <-codes; code != http.StatusUnauthorized {
		t.Errorf("who went away: %d", code)
	}
	for range 150 {
		go func() { codes <- send(t.Context(), "forged", token("k3", now)) }()
	}
	for range 50 { // all beyond a hundred
		if code := <-codes; code != http.StatusUnauthorized {
			t.Errorf("one of many: %d", code)
		}
	}
	if code := send(t.Context(), "second", token("k1", clock)); code != http.StatusNoContent {
		t.Errorf("a known key: %d", code)
	}
	if ctx.Err() != nil || len(asked) > 0 {
		t.Errorf("the keys were asked for %d times more: %v", len(asked), ctx.Err())
	}
	answer <- theirs.keys("k3")
	for range 100 {
		if code := <-codes; code != http.StatusNoContent {
			t.Fatalf("one that waited: %d", code)
		}
	}
	if got := []string{<-woken, <-woken, <-woken}; len(woken) > 0 { // those that waited have one token
		t.Errorf("woken %v and more", got)
	}
}
