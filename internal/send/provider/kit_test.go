package provider

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const testKey = "sk-very-secret-0123456789"

// serve starts a server and makes a client for it.
func serve(t *testing.T, h http.HandlerFunc) *Client {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return clientFor(t, s.URL)
}

func clientFor(t *testing.T, base string) *Client {
	t.Helper()
	cfg := Config{Name: "test", BaseURL: base, Key: NewSecret(testKey), Headers: map[string]string{"X-Extra": "extra-header-value"}}
	c, err := NewClient(cfg, Bearer(cfg.Key))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func diff(t *testing.T, want, got any, opts ...cmp.Option) {
	t.Helper()
	if d := cmp.Diff(want, got, opts...); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// sink is a part under construction.
type sink struct {
	bytes.Buffer
	validator string
	begun     []string
	failAt    int // Write fails beyond so many bytes; 0: never
}

func (s *sink) Held() (int64, string) { return int64(s.Len()), s.validator }

func (s *sink) Begin(offset int64, validator string) error {
	s.begun = append(s.begun, fmt.Sprintf("%d %s", offset, validator))
	s.Truncate(int(offset))
	s.validator = validator
	return nil
}

func (s *sink) Write(p []byte) (int, error) {
	if s.failAt > 0 && s.Len()+len(p) > s.failAt {
		return 0, errors.New("disk full")
	}
	return s.Buffer.Write(p)
}

// source returns a body in memory that can only be read forward.
func source(text string) Source {
	return Source{Size: int64(len(text)), SHA256: strings.Repeat("ab", 32), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(text)), nil
	}}
}

func code(err error) string {
	if f := FaultOf(err); f != nil {
		return string(f.Class) + " " + f.Code
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

var background = context.Background()
