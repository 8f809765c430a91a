package traffic

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/internal/send/provider"
)

type fickle struct{ err error }

func (f *fickle) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusTeapot}, f.err
}

func TestAProviderThatCannotBeReachedIsReportedOnceAndWhenItIsBack(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 15, 9, 0, 0, 0, time.Local)
	c := NewContact(func() time.Time { return now })
	world := &fickle{}
	openai, gemini := c.Around(world, "openai"), c.Around(world, "gemini")
	var news []string
	after := func(d time.Duration, err error, from ...http.RoundTripper) {
		t.Helper()
		now, world.err = now.Add(d), err
		for _, r := range from {
			if _, got := r.RoundTrip(nil); got != err {
				t.Errorf("the call gave %v, want %v", got, err)
			}
		}
		for _, o := range c.News() {
			news = append(news, o.String())
		}
	}
	refused := errors.New("connection refused\x1b[31m")
	after(0, refused, openai)
	after(3*time.Second, nil, openai) // a short cut is no news
	after(time.Minute, refused, openai, gemini)
	after(time.Second, nil, gemini) // any answer is one, a teapot's too
	after(10*time.Second, refused, openai)
	after(10*time.Second, refused, openai)
	after(time.Minute, context.Canceled, openai, gemini) // we hung up
	after(time.Minute, nil, openai)
	after(time.Hour, refused, openai)
	want := []string{`openai cannot be reached since 09:01:03: connection refused\u001b[31m; it is tried again`, "openai answers again"}
	if diff := cmp.Diff(want, news); diff != "" {
		t.Error(diff)
	}
}

func TestNoContactAndNoExchangesRecordNothing(t *testing.T) {
	t.Parallel()
	var c *Contact
	if c.News() != nil || c.Around(http.DefaultTransport, "x") != http.DefaultTransport {
		t.Error("no contact records something")
	}
	var x *Exchanges
	if x.Close() != nil || x.Around(http.DefaultTransport, provider.Secret{}) != http.DefaultTransport {
		t.Error("no exchanges record something")
	}
}
