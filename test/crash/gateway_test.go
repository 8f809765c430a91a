package crash

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// gatewayModels returns the models of a client's file: a third of its lines for each.
func gatewayModels() []string {
	return []string{"gpt-4.1-mini", "anthropic/claude-sonnet-4-5", "gemini/gemini-2.5-flash"}
}

func gatewayKills() []Point {
	return half([]Point{
		{"ledger begin client file", 1, After}, {"ledger keep client file", 1, After}, {"ledger create run", 1, After},
		{"ledger keep client file", 1, Before}, {"ledger put items", 1, After}, {"ledger stage", 2, After}, {"ledger open run", 1, Before},
		{"ledger open run", 1, After}, {"POST /openai/v1/files", 1, Upload}, {"ledger intend", 2, After},
		{"POST /anthropic/v1/messages/batches", 1, Accepted}, {"POST /openai/v1/batches", 1, Accepted},
		{"GET /openai/v1/files/*/content", 1, Download}, {"ledger settle", 2, After}, {"ledger close run", 1, After},
		{"ledger close run", 1, Before}, {"ledger put client files", 1, After}, {"ledger put client files", 1, Before},
	}, *points)
}

// TestAKilledGatewayLosesAndRepeatsNothing kills a gateway at moments of a batch of three providers and starts it again. Its client
// repeats calls that were cut off, as OpenAI's clients do, and wants one batch with every line answered and billed once.
func TestAKilledGatewayLosesAndRepeatsNothing(t *testing.T) {
	t.Parallel()
	all := gatewayKills()
	dirs := t.TempDir()
	missed := make([]bool, len(all))
	each(len(all), func(i int) {
		g := &gatewayProof{point: all[i]}
		if err := g.hold(t.Context(), filepath.Join(dirs, fmt.Sprint(i))); err != nil {
			t.Errorf("killed at %s: %v", all[i], err)
		}
		missed[i] = !g.reached
	})
	for i, m := range missed {
		if m {
			t.Errorf("no gateway came to %s", all[i])
		}
	}
}

// TestAGatewayTakesOverFromOneThatWasKilled kills a gateway in the middle of a batch, and has another on the same ledger go on.
func TestAGatewayTakesOverFromOneThatWasKilled(t *testing.T) {
	t.Parallel()
	for name, db := range map[string]string{"SQLite": "", "PostgreSQL": server.Database(t)} {
		g := &gatewayProof{point: Point{"ledger intend", 2, After}, db: db, beside: true}
		if err := g.hold(t.Context(), filepath.Join(t.TempDir(), "home")); err != nil || !g.reached {
			t.Errorf("%s: killed: %v, %v", name, g.reached, err)
		}
	}
}

// TestALiveCallOfAKilledGatewayIsInDoubt kills a gateway before it reads a provider's answer. The call is in the ledger, with the
// most that it may have cost, and the client's second try beside it.
func TestALiveCallOfAKilledGatewayIsInDoubt(t *testing.T) {
	t.Parallel()
	g := &gatewayProof{point: Point{"POST /openai/v1/chat/completions", 1, Accepted}, calls: true}
	if err := g.hold(t.Context(), filepath.Join(t.TempDir(), "home")); err != nil || !g.reached {
		t.Errorf("killed: %v, %v", g.reached, err)
	}
}

// gatewayProof is a gateway that is killed once, and its client.
type gatewayProof struct {
	*session
	point  Point
	db     string // a PostgreSQL URL; empty: SQLite
	token  string // of its client: whatever answers at the port of a killed gateway is another one where this is refused
	beside bool   // when it is killed another gateway is started, and this one is not started again
	calls  bool   // the client asks live

	mu       sync.Mutex
	gateways []*child // nil: none runs in its place
	reached  bool
	killed   chan struct{} // closed when it was
}

func (g *gatewayProof) hold(ctx context.Context, dir string) (err error) {
	if g.session, err = open(dir, "batch", g.db); err != nil {
		return err
	}
	defer g.close()
	g.token = rand.Text()
	if err := os.WriteFile(filepath.Join(dir, "tokens"), []byte("anna "+g.token+"\n"), 0o600); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	serving := make(chan struct{})
	g.killed = make(chan struct{})
	points := []*Point{&g.point}
	if g.beside {
		points = append(points, nil)
	}
	done := make(chan error, len(points))
	g.gateways = make([]*child, len(points))
	for i, point := range points {
		go func() {
			if point == nil { // the other one has all the work until then: it is sure to come to the point
				select {
				case <-g.killed:
				case <-serving:
				case <-ctx.Done():
				}
			}
			done <- g.supervise(ctx, i, serving, point)
		}()
	}
	if g.calls {
		err = g.asks(ctx)
	} else {
		err = g.client(ctx)
	}
	close(serving)
	for range points {
		err = errors.Join(err, <-done)
	}
	if err != nil || g.calls {
		return err
	}
	return errors.Join(g.sound(ctx), g.paidOnce(ctx, 0))
}

// asks makes one live call, as often as it takes.
func (g *gatewayProof) asks(ctx context.Context) error {
	var reply struct{ Object string }
	body := `{"model":"gpt-4.1-mini","messages":[{"role":"user","content":"What is 1 and 1?"}]}`
	if err := g.call(ctx, "POST", "/chat/completions", "application/json", []byte(body), &reply); err != nil ||
		reply.Object != "chat.completion" {
		return fmt.Errorf("the answer is %+v: %w", reply, err)
	}
	rows, err := g.rows(ctx, `SELECT ended_ms IS NULL, cost_nano IS NULL, high_nano > 0 FROM client_calls`)
	if d := cmp.Diff([]string{"0 0 1", "1 1 1"}, rows); err != nil || d != "" {
		return fmt.Errorf("calls that are open, without a cost, with the most they may cost (%w; -want +got):\n%s", err, d)
	}
	return nil
}

// supervise starts gateway i until it is no longer wanted, the first time with a fuse in it. One whose work another takes over is
// not started again.
func (g *gatewayProof) supervise(ctx context.Context, i int, serving chan struct{}, point *Point) error {
	for {
		g.mu.Lock()
		c, err := g.start(ctx, point, syscall.SIGKILL, "gateway", "--listen", "127.0.0.1:0", "--token-file", "tokens", "--interval", "10ms")
		g.gateways[i] = c
		g.mu.Unlock()
		if err != nil {
			return err
		}
		over, end := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(end)
			select {
			case <-serving:
				c.Process.Signal(os.Interrupt)
			case <-over:
			}
		}()
		e, err := c.wait()
		g.mu.Lock()
		g.gateways[i] = nil
		g.mu.Unlock()
		close(over)
		<-end
		if err != nil {
			return err
		}
		g.mu.Lock()
		if e.reached && !g.reached {
			close(g.killed)
		}
		g.reached = g.reached || e.reached
		g.mu.Unlock()
		select {
		case <-serving:
			if e.code != 130 && e.code != 0 && e.code != -1 {
				return fmt.Errorf("the last gateway: %s", e)
			}
			return nil
		default:
		}
		if !e.reached {
			return fmt.Errorf("the gateway ended by itself: %s", e)
		}
		if g.beside {
			return nil
		}
		point = nil
	}
}

// client does what OpenAI's clients do with a batch.
func (g *gatewayProof) client(ctx context.Context) error {
	var text strings.Builder
	var want []string
	for i := range 6 {
		id := fmt.Sprintf("line %d", i)
		want = append(want, id)
		fmt.Fprintf(&text, `{"custom_id":%q,"method":"POST","url":"/v1/chat/completions","body":{"model":%q,"messages":[{"role":"user","content":"What is %d and %d?"}]}}`+"\n", id, gatewayModels()[i%3], i, i)
	}
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	part, _ := w.CreateFormFile("file", "in.jsonl")
	io.WriteString(part, text.String())
	w.WriteField("purpose", "batch")
	w.Close()
	var file, batch gatewayObject
	if err := g.call(ctx, "POST", "/files", w.FormDataContentType(), form.Bytes(), &file); err != nil {
		return err
	}
	create := fmt.Sprintf(`{"input_file_id":%q,"endpoint":"/v1/chat/completions","completion_window":"24h"}`, file.ID)
	if err := g.call(ctx, "POST", "/batches", "application/json", []byte(create), &batch); err != nil {
		return err
	}
	for batch.Status != "completed" {
		if err := g.call(ctx, "GET", "/batches/"+batch.ID, "", nil, &batch); err != nil {
			return fmt.Errorf("%w, with %+v", err, batch)
		}
		if !slices.Contains([]string{"in_progress", "finalizing", "completed"}, batch.Status) {
			return fmt.Errorf("the batch is %+v", batch)
		}
	}
	var listed struct{ Data []gatewayObject }
	if err := g.call(ctx, "GET", "/batches", "", nil, &listed); err != nil || len(listed.Data) != 1 {
		return errors.Join(err, fmt.Errorf("there are %d batches", len(listed.Data)))
	}
	return g.answers(ctx, batch, want)
}

// answers wants one answer to every line, and no error.
func (g *gatewayProof) answers(ctx context.Context, batch gatewayObject, want []string) error {
	if batch.Errors != "" || batch.Counts.Completed != len(want) || batch.Counts.Failed != 0 {
		return fmt.Errorf("the batch came to %+v", batch)
	}
	var raw json.RawMessage
	if err := g.call(ctx, "GET", "/files/"+batch.Output+"/content", "", nil, &raw); err != nil {
		return err
	}
	var got []string
	for line := range strings.Lines(string(raw)) {
		var l struct {
			ID       string `json:"custom_id"`
			Response struct {
				Status int `json:"status_code"`
			}
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil || l.Response.Status != 200 {
			return fmt.Errorf("a line of the results (%w): %s", err, line)
		}
		got = append(got, l.ID)
	}
	if d := cmp.Diff(want, got); d != "" {
		return errors.New("ids of the results (-want +got):\n" + d)
	}
	return nil
}

// gatewayObject is a file or a batch, as far as the client looks.
type gatewayObject struct {
	ID, Status string
	Output     string                                 `json:"output_file_id"`
	Errors     string                                 `json:"error_file_id"`
	Counts     struct{ Total, Completed, Failed int } `json:"request_counts"`
}

// address returns where a gateway serves, in the line that it prints first; empty while none does.
func (g *gatewayProof) address(try int) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.gateways[try%len(g.gateways)]
	if c == nil {
		return ""
	}
	line, _, whole := strings.Cut(c.out.String(), "\n")
	if !whole {
		return ""
	}
	return strings.TrimPrefix(line, "OPENAI_BASE_URL=")
}

// call makes a call, and again while the gateway is away, as OpenAI's clients do.
func (g *gatewayProof) call(ctx context.Context, method, path, kind string, body []byte, into any) error {
	for try := 0; ; try++ {
		req, err := http.NewRequestWithContext(ctx, method, g.address(try)+path, bytes.NewReader(body))
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "Bearer "+g.token)
		req.Header.Set("X-Stainless-Retry-Count", fmt.Sprint(try))
		if kind != "" {
			req.Header.Set("Content-Type", kind)
		}
		status, text, err := g.once(req)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil || status >= 500 || status == http.StatusUnauthorized:
			time.Sleep(10 * time.Millisecond) // the gateway starts again
		case status != 200:
			return fmt.Errorf("%s %s: %d %s", method, path, status, text)
		default:
			if raw, ok := into.(*json.RawMessage); ok {
				*raw = text
				return nil
			}
			return json.Unmarshal(text, into)
		}
	}
}

func (g *gatewayProof) once(req *http.Request) (int, []byte, error) {
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, text, err
}
