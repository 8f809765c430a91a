package provider

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"assay/internal/assay"
)

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestASignerSeesTheWholeRequest has calls signed with bodies that can be read twice, that cannot, and none.
func TestASignerSeesTheWholeRequest(t *testing.T) {
	t.Parallel()
	sent := 0
	cfg := Config{Name: "x", BaseURL: "https://home.example", HTTP: roundTrip(func(r *http.Request) (*http.Response, error) {
		sent++
		if r.Header.Get("Signed") == "" != (r.URL.Host != "home.example") {
			t.Errorf("%s is signed %q", r.URL, r.Header.Get("Signed"))
		}
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}")), Request: r}, nil
	})}
	c, err := NewClient(cfg, Bearer(Secret{}))
	if err != nil {
		t.Fatal(err)
	}
	want := sha256.Sum256([]byte("words"))
	c.Signing(func(_ context.Context, r *http.Request, body [sha256.Size]byte) error {
		if r.Header.Get("Own") != "1" || body != want {
			return errors.New("not what is sent")
		}
		r.Header.Set("Signed", "yes")
		return nil
	})
	own := map[string]string{"Own": "1"}
	once := func() io.Reader { return io.MultiReader(strings.NewReader("words")) }
	for _, call := range []Call{
		{Path: "/a", Method: "POST", Body: strings.NewReader("words"), Length: 5, Header: own},
		{Path: "/a", Method: "POST", Body: once(), Length: 5, Header: own, SHA256: hex.EncodeToString(want[:])},
		{Foreign: "https://away.example/b", Method: "POST", Body: strings.NewReader("words"), Length: 5},
	} {
		if _, err := c.JSON(context.Background(), call, nil); err != nil {
			t.Error(err)
		}
	}
	for _, call := range []Call{{Path: "/a", Method: "POST", Body: once(), Length: 5, Header: own}, {Path: "/a", Header: own},
		{Path: "/a", Method: "POST", Body: strings.NewReader("words"), Length: 5}} {
		if _, err := c.JSON(context.Background(), call, nil); err == nil || !Unsent(err) {
			t.Errorf("%+v: %v", call, err)
		}
	}
	if _, err := c.JSON(context.Background(), Call{Path: "/a", Header: own}, nil); FaultOf(err).Class != assay.FaultDenied || sent != 3 {
		t.Errorf("%v, %d sent", err, sent)
	}
}
