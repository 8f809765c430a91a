package worlds

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"assay/internal/show/cli/shell"
)

// door is where a command listens. It is no socket: the bubble knows who waits at one.
type door struct {
	opened, closed chan struct{}
	calls          chan net.Conn
}

func newDoor() *door {
	return &door{opened: make(chan struct{}), closed: make(chan struct{}), calls: make(chan net.Conn)}
}

// listen opens the door.
func (d *door) listen(string) (net.Listener, error) {
	close(d.opened)
	return d, nil
}

// Accept waits for a caller.
func (d *door) Accept() (net.Conn, error) {
	select {
	case c := <-d.calls:
		return c, nil
	case <-d.closed:
		return nil, net.ErrClosed
	}
}

// Close closes the door; it is closed once.
func (d *door) Close() error {
	close(d.closed)
	return nil
}

// Addr returns an address of this machine.
func (d *door) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7788} }

// dial calls at the door.
func (d *door) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	mine, theirs := net.Pipe()
	select {
	case d.calls <- theirs:
		return mine, nil
	case <-d.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// served runs a command that listens while do calls it, and interrupts it then, if it has not ended before.
func (h *history) served(ctx context.Context, end ending, do func(*http.Client) error, args ...string) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	d, done := newDoor(), make(chan saying, 1)
	go func() {
		done <- h.process(ctx, end, shell.World{Args: args, Stdin: strings.NewReader(""), Ports: d.listen})
	}()
	select {
	case s := <-done:
		if s.code == codeKilled || end.How == full || end.How == interrupt {
			return nil
		}
		return breaks(L12, s.String(), "a command that listens goes on", "it ended")
	case <-d.opened:
	}
	through := &http.Transport{DialContext: d.dial}
	err := do(&http.Client{Transport: through, Timeout: time.Hour})
	through.CloseIdleConnections()
	stop()
	<-done
	return err
}

// viewToken is that of the dashboard.
const viewToken = "a-token-of-the-dashboard"

// pages returns what the dashboard shows at some paths.
func (h *history) pages(ctx context.Context, paths ...string) (out []string, err error) {
	if err := os.WriteFile(filepath.Join(h.dir, "token"), []byte(viewToken), 0o600); err != nil {
		return nil, err
	}
	err = h.served(ctx, ending{}, func(client *http.Client) error {
		for _, path := range paths {
			page, err := read(ctx, client, path)
			if err != nil {
				return err
			}
			out = append(out, page)
		}
		return nil
	}, "view", "--token-file", "token")
	return out, err
}

// read returns a page of the dashboard.
func read(ctx context.Context, client *http.Client, path string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1:7788"+path, nil)
	if err != nil {
		return "", err
	}
	req.Header.Set("Authorization", "Bearer "+viewToken)
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err == nil && resp.StatusCode != http.StatusOK {
		err = breaks(L8, string(text), "the dashboard has "+path, "%s", resp.Status)
	}
	return string(text), err
}

// dashboard looks at the pages of a run: they are there, and nothing hostile or secret is in them.
func (h *history) dashboard(ctx context.Context, run string) (page, api string, err error) {
	all, err := h.pages(ctx, "/runs/"+run+"/findings", "/api/runs/"+run+"/findings", "/runs", "/runs/"+run, "/runs/"+run+"/answers",
		"/runs/"+run+"/grid", "/runs/"+run+"/progress")
	if err != nil {
		return "", "", err
	}
	for i, text := range all {
		if strings.Contains(text, secret) || strings.Contains(text, hostile[0]) && i != 1 {
			return "", "", breaks(L14, "", "no key and no markup of an answer is on a page", "page %d of the dashboard has it", i)
		}
	}
	return all[0], all[1], nil
}
