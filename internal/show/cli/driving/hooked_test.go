package driving

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/internal/show/cli/shell"
	"assay/internal/study/catalog"
)

const keySet = `{"keys":[{"kty":"RSA","kid":"k","e":"AQAB","n":"N"}]}`

// TestKeysOfTokensArePinnedOrAskedFor reads public keys from a file and from an address, and refuses others.
func TestKeysOfTokensArePinnedOrAskedFor(t *testing.T) {
	t.Parallel()
	text := strings.Replace(keySet, `"N"`, `"`+strings.Repeat("x", 342)+`"`, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/moved" {
			http.Redirect(w, r, "/keys", http.StatusFound)
			return
		}
		_, _ = w.Write([]byte(text))
	}))
	defer server.Close()
	dir := t.TempDir()
	for name, content := range map[string]string{"pinned.json": text, "wrong.json": "{}"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	token := catalog.HookToken{AudienceEnv: "AUDIENCE", KeysEnv: "KEYS", Keys: server.URL + "/keys"}
	for _, c := range []struct{ audience, keys, want, trouble string }{
		{"", "", "none", ""},
		{"us", "", text, ""},
		{"us", "pinned.json", text, ""},
		{"us", server.URL + "/moved", "", "302"},
		{"us", "http://keys.example/keys", "none", "keys come by https, or from a file"},
		{"us", "wrong.json", "none", "no RSA key"},
		{"us", "missing.json", "none", "no such file"},
	} {
		w := &shell.World{Env: func(name string) (string, bool) {
			v := map[string]string{"AUDIENCE": c.audience, "KEYS": c.keys}[name]
			return v, v != ""
		}, Disk: shell.Disk{Dir: dir}, HTTP: http.DefaultTransport}
		got, err := hookTokens(w, token)
		have := "none"
		if err == nil && got != nil {
			var b []byte
			b, err = got.Keys(t.Context())
			have = string(b)
		}
		if (err == nil) != (c.trouble == "") || err != nil && !strings.Contains(err.Error(), c.trouble) || have != c.want {
			t.Errorf("audience %q, keys %q: %q (%v)", c.audience, c.keys, have, err)
		}
	}
}
