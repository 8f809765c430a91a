package gateway_test

import (
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"assay/internal/keep/artifacts"
	"assay/internal/send/workspace"
	"assay/internal/show/gateway"
)

// TestUsersAreReadAgain takes a user out of the file, adds one, and lets a token run out.
func TestUsersAreReadAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	file := "anna " + anna + "\nbert " + bert + " 5\n"
	read := func() ([]gateway.User, error) { return gateway.ReadUsers([]byte(file)) }
	users, err := read()
	if err != nil {
		t.Fatal(err)
	}
	s := gateway.New(gateway.Options{Home: r.home, Users: users, Reread: read, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	wants := func(when string, want map[string]int) {
		t.Helper()
		for token, status := range want {
			w, q := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/v1/files", nil)
			q.Header.Set("Authorization", "Bearer "+token)
			if s.ServeHTTP(w, q); w.Code != status {
				t.Errorf("%s, %s...: status %d, want %d", when, token[:4], w.Code, status)
			}
		}
	}
	const carl = "carl-has-a-token-of-his-own"
	wants("at first", map[string]int{anna: 200, bert: 200, carl: 401})
	file = "anna " + anna + "\ncarl " + carl + " until=" + time.Now().UTC().AddDate(0, 0, 1).Format(time.DateOnly) + "\n"
	if err := s.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	wants("read again", map[string]int{anna: 200, bert: 401, carl: 200})
	r.later.Store(int64(25 * time.Hour))
	wants("a day later", map[string]int{anna: 200, carl: 401})
	file = "anna short\n"
	if err := s.Refresh(t.Context()); err == nil || strings.Contains(err.Error(), "short\n") {
		t.Errorf("a file that cannot be read: %v", err)
	}
	wants("a file that cannot be read", map[string]int{anna: 200})
}

func TestAnIDWithANulIsNotFound(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	for _, path := range []string{"/files/file-%00/content", "/files/file-%00", "/batches/batch_%00"} {
		if status, answer := r.call(anna, http.MethodGet, path, nil); status != http.StatusNotFound {
			t.Errorf("%s: %d %v", path, status, answer)
		}
	}
}

// TestWhatIsWrongWithTheGatewayIsNamed has artifacts at a port that nobody listens on, in a bucket that refuses every call, and on a full
// disk.
func TestWhatIsWrongWithTheGatewayIsNamed(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{env: map[string]string{"AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s"}})
	ask := func(h *workspace.Home, method, path string) *httptest.ResponseRecorder {
		users := []gateway.User{gateway.NewUser("anna", anna, nil)}
		s := gateway.New(gateway.Options{Home: h, Users: users, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
		form := "--b\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n" +
			"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"in.jsonl\"\r\n\r\n{}\r\n--b--\r\n"
		w, call := httptest.NewRecorder(), httptest.NewRequest(method, path, strings.NewReader(form))
		call.Header.Set("Content-Type", "multipart/form-data; boundary=b")
		call.Header.Set("Authorization", "Bearer "+anna)
		s.ServeHTTP(w, call)
		return w
	}
	if w := ask(r.home, http.MethodGet, "/healthz"); w.Code != http.StatusOK {
		t.Errorf("all is well: %d %s", w.Code, w.Body)
	}
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	defer refuses.Close()
	for _, endpoint := range []string{"http://127.0.0.1:1", refuses.URL} {
		away, err := workspace.Place{Home: t.TempDir(), Artifacts: "s3://b/p?endpoint=" + endpoint}.Open(t.Context(), r.world, false)
		if err != nil {
			t.Fatal(err)
		}
		defer away.Close()
		w := ask(away, http.MethodGet, "/healthz")
		if w.Code != http.StatusServiceUnavailable || w.Body.String() != "the bucket does not answer\n" {
			t.Errorf("%s is away: %d %s", endpoint, w.Code, w.Body)
		}
		w = ask(away, http.MethodPost, "/v1/files")
		if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "The gateway's bucket cannot be reached.") {
			t.Errorf("an upload while %s is away: %d %s", endpoint, w.Code, w.Body)
		}
	}
	world := *r.world
	world.Files = func(_ artifacts.Step, file string, _ func() error) error {
		return &fs.PathError{Op: "write", Path: file, Err: syscall.ENOSPC}
	}
	full, err := workspace.Place{Home: t.TempDir()}.Open(t.Context(), &world, false)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	w := ask(full, http.MethodPost, "/v1/files")
	if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "The gateway's disk is full.") {
		t.Errorf("an upload to a full disk: %d %s", w.Code, w.Body)
	}
}
