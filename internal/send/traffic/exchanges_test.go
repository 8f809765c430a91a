package traffic

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/internal/send/provider"
)

const debugKey = "Zq7-secret/key+of#the%house"

// debugged makes requests through exchanges that are written down, and returns the file's text.
func debugged(t *testing.T, serve http.HandlerFunc, requests ...*http.Request) string {
	t.Helper()
	server := httptest.NewServer(serve)
	t.Cleanup(server.Close)
	name := filepath.Join(t.TempDir(), "debug.log")
	if err := os.WriteFile(name, []byte("before\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	x, err := NewExchanges(f, func() time.Time { return time.Unix(1000, 0) })
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: x.Around(http.DefaultTransport, provider.NewSecret(""))}
	for _, req := range requests {
		req.URL.Scheme, req.URL.Host = "http", strings.TrimPrefix(server.URL, "http://")
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(name)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	after, ok := strings.CutPrefix(string(text), "before\n")
	if !ok {
		t.Error("the file was not added to")
	}
	return strings.ReplaceAll(after, server.URL, "http://here")
}

func request(t *testing.T, method, path, body string, headers map[string]string) *http.Request {
	t.Helper()
	req, err := http.NewRequest(method, "http://x"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range headers {
		req.Header.Set(k, v)
	}
	return req
}

func TestDebugWritesExchangesDown(t *testing.T) {
	t.Parallel()
	text := debugged(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Ratelimit-Remaining-Tokens", "7")
		w.Header().Set("Set-Cookie", "session=abc")
		w.Header()["Date"] = nil
		w.WriteHeader(http.StatusTeapot)
		fmt.Fprint(w, "no \x1b[2J tea")
	}, request(t, "POST", "/v1/files?key=abcdefghijk&limit=3", `{"a":1}`,
		map[string]string{"X-Api-Key": debugKey, "Content-Type": "application/json", "User-Agent": "assay"}))
	want := exchangeLine{At: "1970-01-01T00:16:40Z", Method: "POST", URL: "http://here/v1/files?key=****&limit=****",
		Status: http.StatusTeapot, Request: exchangePart{Headers: map[string]string{"Content-Type": "application/json",
			"User-Agent": "assay", "X-Api-Key": stars}, Bytes: 7, Body: `{"a":1}`},
		Response: &exchangePart{Headers: map[string]string{"Content-Length": "11", "Content-Type": "text/plain; charset=utf-8",
			"X-Ratelimit-Remaining-Tokens": "7", "Set-Cookie": stars}, Bytes: 11, Body: `no \u001b[2J tea`}}
	var got exchangeLine
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestDebugNeverShowsAKeyThatAProviderRepeats(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"as it is":         "you sent " + debugKey,
		"in other case":    strings.ToUpper(debugKey),
		"escaped":          strings.NewReplacer("-", `\u002d`, "e", `\u0065`).Replace(debugKey),
		"over the edge":    strings.Repeat("x", shownBody-5) + debugKey,
		"at the end of it": strings.Repeat(debugKey, 2+keptBody/len(debugKey)),
		"cut where we stop": strings.Repeat("y", keptBody-len(debugKey)/2-40*len(debugKey)) + strings.Repeat(debugKey, 41) +
			strings.Repeat("z", keptBody),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := debugged(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("X-Echo", debugKey)
				w.Header().Set("Location", "https://store.example/up?sig="+debugKey)
				fmt.Fprint(w, body)
			}, request(t, "POST", "/v1/"+"batches", "my own "+debugKey, map[string]string{"Authorization": "Bearer " + debugKey}))
			for i := 0; i+5 <= len(debugKey); i++ {
				if strings.Contains(strings.ToLower(text), strings.ToLower(debugKey[i:i+5])) {
					t.Fatalf("%q of the key is in the file: %s", debugKey[i:i+5], text)
				}
			}
		})
	}
}

func TestDebugHidesWhatLooksSecret(t *testing.T) {
	t.Parallel()
	text := debugged(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"access_token": "tok-1-tok", "url":"https://a.example/b?upload_id=hush&x=1", "other":"sk-ABCDEFGHIJKLMNOP", "fine":"words stay"}`)
	}, request(t, "GET", "/v1/batches", "", nil), request(t, "POST", "/oauth2/token", "assertion=hush-hush", nil))
	for _, secret := range []string{"tok-1-tok", "hush", "ABCDEFGH"} {
		if strings.Contains(text, secret) {
			t.Errorf("%s is in %s", secret, text)
		}
	}
	if n := strings.Count(text, "words stay"); n != 1 {
		t.Errorf("words are shown %d times in %s", n, text)
	}
}

func TestDebugRecordsExchangesThatCameToNothing(t *testing.T) {
	t.Parallel()
	f, err := os.Create(filepath.Join(t.TempDir(), "d"))
	if err != nil {
		t.Fatal(err)
	}
	x, err := NewExchanges(f, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	broken := x.Around(refusing{}, provider.NewSecret(debugKey))
	if _, err := broken.RoundTrip(request(t, "GET", "/v1", "", nil)); err == nil {
		t.Fatal("no error")
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(f.Name())
	if err != nil || !strings.Contains(string(text), `"error":"refused with ****"`) {
		t.Errorf("%s, %v", text, err)
	}
}

type refusing struct{}

// RoundTrip refuses.
func (refusing) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, fmt.Errorf("refused with %s", debugKey)
}
