package provider

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"assay/internal/assay"
)

// slowly is a network that takes its time.
type slowly func(*http.Request) (*http.Response, error)

func (n slowly) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := n(r)
	if resp != nil {
		resp.Request = r
	}
	return resp, err
}

// trickle hands out one byte at a time, each after a while, until its request is given up.
type trickle struct {
	ctx   context.Context
	left  string
	every time.Duration
	hangs bool // after the last byte, for ever
}

func (b *trickle) Read(p []byte) (int, error) {
	if b.left == "" && !b.hangs {
		return 0, io.EOF
	}
	wait := time.NewTimer(b.every)
	defer wait.Stop()
	pause := wait.C
	if b.left == "" {
		pause = nil
	}
	select {
	case <-b.ctx.Done():
		return 0, b.ctx.Err()
	case <-pause:
	}
	p[0], b.left = b.left[0], b.left[1:]
	return 1, nil
}

func (b *trickle) Close() error { return nil }

func slowClient(t *testing.T, n slowly) *Client {
	t.Helper()
	c, err := NewClient(Config{Name: "test", BaseURL: "https://api.example", Key: NewSecret(testKey), HTTP: n}, Bearer(NewSecret(testKey)))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func never(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body)
	}
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// TestEveryCallEnds has a server that never answers, or never ends its answer.
func TestEveryCallEnds(t *testing.T) {
	t.Parallel()
	hanging := func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, ContentLength: -1, Header: http.Header{}, Body: &trickle{ctx: r.Context(), left: "[1,",
			every: time.Second, hangs: true}}, nil
	}
	dripping := func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, ContentLength: -1, Header: http.Header{}, Body: &trickle{ctx: r.Context(),
			left: strings.Repeat(" ", 1000), every: time.Second}}, nil
	}
	large := Call{Method: "POST", Path: "/files", Body: bytes.NewReader(make([]byte, 2*trusted)), Length: 2 * trusted}
	for name, c := range map[string]struct {
		net  slowly
		call func(c *Client) error
		want string
		took time.Duration
	}{
		"a small call without an answer": {never, func(c *Client) error { _, err := c.JSON(background, Call{Path: "/x"}, nil); return err },
			"busy timeout", defaultDeadline},
		"a small call whose answer drips": {dripping,
			func(c *Client) error { _, err := c.JSON(background, Call{Path: "/x"}, nil); return err }, "busy timeout", defaultDeadline},
		"a small call whose answer stops": {hanging,
			func(c *Client) error { _, err := c.JSON(background, Call{Path: "/x"}, nil); return err }, "busy timeout", defaultDeadline},
		"an upload without an answer": {never, func(c *Client) error { _, err := c.JSON(background, large, nil); return err },
			"busy stalled", defaultStall},
		"a download without an answer": {never, func(c *Client) error { return c.Download(background, Call{Path: "/x"}, Whole{}, &sink{}) },
			"busy stalled", defaultStall},
		"a download that stops": {hanging, func(c *Client) error { return c.Download(background, Call{Path: "/x"}, Whole{}, &sink{}) },
			"busy stalled", 3*time.Second + defaultStall},
		"a document that stops": {hanging, func(c *Client) error { return c.Elements(background, Call{Path: "/x"}, Document{}) },
			"busy stalled", 3*time.Second + defaultStall},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				diff(t, c.want, code(c.call(slowClient(t, c.net))))
				diff(t, c.took, time.Since(began))
			})
		})
	}
}

func TestWhatMovesMayTakeItsTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		text := strings.Repeat("x", 30) + "}"
		c := slowClient(t, func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, ContentLength: -1, Header: http.Header{}, Body: &trickle{ctx: r.Context(), left: text,
				every: defaultStall - time.Second}}, nil
		})
		var into sink
		if err := c.Download(background, Call{Path: "/x"}, Whole{}, &into); err != nil || into.String() != text {
			t.Errorf("a slow download: %q, %v", into.String(), err)
		}
		c = slowClient(t, func(r *http.Request) (*http.Response, error) {
			p := make([]byte, trusted/4)
			for {
				if _, err := io.ReadFull(r.Body, p); err != nil {
					break
				}
				time.Sleep(defaultStall - time.Second)
			}
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}"))}, r.Context().Err()
		})
		_, err := c.JSON(background,
			Call{Method: "POST", Path: "/files", Body: bytes.NewReader(make([]byte, 4*trusted)), Length: 4 * trusted}, nil)
		if err != nil {
			t.Errorf("a slow upload: %v", err)
		}
	})
}

// TestLaunchesAndQuestionsAreTheirCallersToEnd has answers come after ten minutes.
func TestLaunchesAndQuestionsAreTheirCallersToEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := slowClient(t, func(r *http.Request) (*http.Response, error) {
			_, _ = io.Copy(io.Discard, r.Body)
			time.Sleep(10 * time.Minute)
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(`{"ID":"job"}`))},
				r.Context().Err()
		})
		if r := c.Launch(background, Call{Method: "POST", Path: "/jobs", Body: strings.NewReader("{}"), Length: 2},
			&madeJob{}); r.Status != Accepted {
			t.Errorf("launch: %+v", r)
		}
		wire := assay.Wire{Dialect: assay.DialectChat}
		if _, err := c.Ask(background, "/chat", &assay.Request{Lane: &assay.Lane{}, Wire: &wire,
			Prompt: &assay.Prompt{Messages: []assay.Message{{Role: assay.RoleUser, Text: "q"}}}}); !errors.Is(err, ErrUnreadable) {
			t.Errorf("ask: %v", err)
		}
		within, stop := context.WithTimeout(background, time.Minute)
		defer stop()
		if r := c.Launch(within, Call{Method: "POST", Path: "/jobs", Body: strings.NewReader("{}"), Length: 2},
			&madeJob{}); r.Status != Unknown || !errors.Is(r.Err, context.DeadlineExceeded) {
			t.Errorf("launch with a deadline: %+v", r)
		}
	})
}

type madeJob struct{ ID string }

func (m *madeJob) Made() (string, time.Time) { return m.ID, time.Time{} }
