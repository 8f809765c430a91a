package gateway

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/batchfile"
	"assay/internal/send/batchrun"
	"assay/internal/send/workspace"
	"assay/internal/show/gateway/openai"
	"assay/internal/study/catalog"
)

// batchRequest is the body of a create call.
type batchRequest struct {
	File     string            `json:"input_file_id"`
	Endpoint string            `json:"endpoint"`
	Window   string            `json:"completion_window"`
	Metadata map[string]string `json:"metadata"`
}

var windows = regexp.MustCompile(`^[1-9][0-9]{0,3}[hd]$`)

func (q *batchRequest) check() error {
	switch {
	case q.File == "":
		return openai.Wrong(http.StatusBadRequest, "missing_required_parameter", "input_file_id",
			"Missing required parameter: 'input_file_id'.")
	case q.Endpoint == "":
		return openai.Wrong(http.StatusBadRequest, "missing_required_parameter", "endpoint", "Missing required parameter: 'endpoint'.")
	case batchrun.APIOf(q.Endpoint) == "":
		return openai.Wrong(http.StatusBadRequest, "invalid_value", "endpoint",
			"Invalid value: '%s'. Supported values are: '/v1/chat/completions' and '/v1/responses'.", assay.Clean(q.Endpoint, 80))
	case q.Window == "":
		return openai.Wrong(http.StatusBadRequest, "missing_required_parameter", "completion_window",
			"Missing required parameter: 'completion_window'.")
	case !windows.MatchString(q.Window):
		return openai.Wrong(http.StatusBadRequest, "invalid_value", "completion_window", "Invalid value: '%s'. Use '24h'.",
			assay.Clean(q.Window, 40))
	case len(q.Metadata) > 16:
		return openai.Wrong(http.StatusBadRequest, "object_above_max_properties", "metadata", "Invalid 'metadata': at most 16 pairs.")
	}
	for name, value := range q.Metadata {
		if len(name) > 64 || len(value) > 512 {
			return openai.Wrong(http.StatusBadRequest, "string_above_max_length", "metadata",
				"Invalid 'metadata': keys have at most 64 characters, values 512.")
		}
	}
	return nil
}

const maxCreate = 1 << 20

// createBatch records a batch, and has it driven. Once the client has its answer, nothing of it is lost.
func (s *Server) createBatch(ctx context.Context, c *call) (any, error) {
	var q batchRequest
	text, err := openai.ReadJSON(c.Body, maxCreate, &q)
	if err != nil {
		return nil, err
	}
	if err := q.check(); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(append([]byte(c.user.Name+"\n"), text...))
	m := &making{s: s, user: c.user, request: q, client: batchrun.Client{Endpoint: q.Endpoint, File: q.File, Window: q.Window,
		Metadata: q.Metadata,
		Request:  hex.EncodeToString(sum[:]), Once: c.Header.Get("Idempotency-Key")}}
	lock := s.lock(c.user.Name) // a call that is repeated waits for the first
	lock.Lock()
	defer lock.Unlock()
	run, found, err := m.before(ctx, c.Header.Get("X-Stainless-Retry-Count"))
	if err != nil {
		return nil, err
	}
	if !found {
		// A client that hangs up now repeats the call, and is given this batch.
		if run, err = m.begin(context.WithoutCancel(ctx)); err != nil {
			return nil, err
		}
		s.driver.Look()
	}
	return s.batch(ctx, run)
}

func (s *Server) lock(user string) *sync.Mutex {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.making[user] == nil {
		s.making[user] = &sync.Mutex{}
	}
	return s.making[user]
}

// making is a batch that is being made.
type making struct {
	s       *Server
	user    *User
	request batchRequest
	client  batchrun.Client
}

// repeated is how long after a call the same call counts as its repetition, where the client marks it as one.
const repeated = 10 * time.Minute

// before finds the batch that an earlier try of the same call made: the one under the caller's key, or, for a client that
// marks it as a further try, the newest of the same words.
func (m *making) before(ctx context.Context, tries string) (store.Run, bool, error) {
	if m.client.Once == "" && (tries == "" || tries == "0") {
		return store.Run{}, false, nil
	}
	all, err := m.s.driver.Runs(ctx, m.user.Name, store.RunOpen, store.RunClosed)
	if err != nil {
		return store.Run{}, false, err
	}
	for _, run := range all {
		b, _ := batchrun.Of(run)
		switch {
		case m.client.Once != "" && b.Client.Once == m.client.Once && b.Client.Request != m.client.Request:
			return run, false, openai.Wrong(http.StatusBadRequest, "idempotency_key_reused", "",
				"The Idempotency-Key was used for another request.")
		case m.client.Once != "" && b.Client.Once == m.client.Once,
			m.client.Once == "" && b.Client.Request == m.client.Request && m.s.now().Sub(run.Created) < repeated:
			return run, true, nil
		}
	}
	return store.Run{}, false, nil
}

// begin reads the file, makes every request into one of its provider, and records the run.
func (m *making) begin(ctx context.Context) (store.Run, error) {
	f, err := m.s.Home.Ledger.Clients.ClientFile(ctx, m.user.Name, m.request.File)
	if err != nil {
		if errors.Is(err, store.ErrNotFound) {
			err = openai.Wrong(http.StatusBadRequest, "invalid_request", "input_file_id", "No such File object: %s",
				assay.Clean(m.request.File, 80))
		}
		return store.Run{}, err
	}
	if f.Purpose != purposeBatch {
		return store.Run{}, openai.Wrong(http.StatusBadRequest, "invalid_request", "input_file_id",
			"The file's purpose is %s, want batch.", f.Purpose)
	}
	left, err := m.s.left(ctx, m.user)
	if err != nil {
		return store.Run{}, err
	}
	made, err := os.CreateTemp("", "assay-gateway-")
	if err != nil {
		return store.Run{}, err
	}
	if os.Remove(made.Name()) != nil { // so that a kill leaves nothing behind; a system that does not let it go has to wait
		defer os.Remove(made.Name())
	}
	defer made.Close()
	routed, err := m.route(ctx, f, made, left != nil)
	if err != nil {
		return store.Run{}, err
	}
	b := batchrun.Batch{File: routed.File, Reaches: map[string]batchrun.Reach{}}
	for _, l := range routed.File.Lanes {
		t, _ := m.s.providers.Target(l.Provider) // it was found ready a moment ago
		b.Reaches[l.Provider] = t.Reach
	}
	return m.record(ctx, f, b, routed, left, made)
}

func (m *making) route(ctx context.Context, f store.ClientFile, into io.Writer, priced bool) (*batchfile.Routed, error) {
	in, err := m.s.open(ctx, f)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	r := &batchfile.Router{Catalog: m.s.catalog, API: batchrun.APIOf(m.request.Endpoint), Today: catalog.DateOf(m.s.now()),
		Ready: m.s.providers.Ready, Priced: priced}
	return r.File(ctx, f.Name, maxLines, in, into)
}

// record begins the run. A file that cannot be read, or of which nothing can be sent, is a batch that has failed.
func (m *making) record(ctx context.Context, f store.ClientFile, b batchrun.Batch, routed *batchfile.Routed, left *assay.Money,
	made io.ReaderAt) (store.Run, error) {
	m.client.Refused, m.client.Broken = int64(len(routed.Refused)), routed.Broken
	if len(routed.Broken) == 0 && routed.File.Requests == 0 {
		m.client.Broken = routed.Refused[:min(len(routed.Refused), maxBroken)]
	}
	var budget *assay.Money
	if len(m.client.Broken) > 0 { // nothing is sent: the lines that were fine are not either
		b.File.Lanes, b.File.Requests, routed.Refused = nil, 0, nil
	} else if left != nil {
		var high assay.Cost
		for _, l := range b.File.Lanes {
			high = high.Add(l.High)
		}
		if high.Sum > *left {
			return store.Run{}, overBudget("this batch may cost %s, and %s of the budget is left (a smaller max_tokens lowers it)",
				high.Sum, *left)
		}
		budget = &high.Sum
	}
	b.Client = &m.client
	open := func() (io.ReadCloser, error) { return io.NopCloser(io.NewSectionReader(made, 0, math.MaxInt64)), nil }
	if len(m.client.Broken) > 0 {
		none := sha256.Sum256(nil)
		b.File.SHA256, open = hex.EncodeToString(none[:]), func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("")), nil }
	}
	within, _ := m.s.allowance(m.user.Name)
	for try := 0; ; try++ {
		id, err := m.runID(try)
		if err != nil {
			return store.Run{}, err
		}
		run, err := m.s.Home.BeginRouted(ctx, workspace.RoutedBatch{ID: id, Name: f.Name, By: m.user.Name, Batch: b,
			Refused: routed.Refused, Budget: budget, Within: within, Open: open})
		if !errors.Is(err, store.ErrDuplicate) {
			return run, uncovered(err, "batch")
		}
		if dead, err := m.abandoned(ctx, id); err != nil || !dead {
			return run, cmp.Or(err, error(&openai.Refusal{Status: http.StatusServiceUnavailable,
				Problem: batchrun.NewProblem(http.StatusServiceUnavailable, "", "", "The same request is being worked on."), After: "2"}))
		}
	}
}

// preparation is how long a batch takes to be recorded at most.
const preparation = 5 * time.Minute

// abandoned reports whether a batch under an id was given up, or begun by a process that ended before it was recorded.
func (m *making) abandoned(ctx context.Context, id string) (bool, error) {
	run, err := m.s.Home.Ledger.Reader.FindRun(ctx, id, "")
	if err != nil || run.Abandoned() {
		return err == nil, err
	}
	if run.State != store.RunPreparing || m.s.now().Sub(run.Created) <= preparation {
		return false, nil
	}
	return m.s.Home.Ledger.Runs.AbandonRun(ctx, run.No) // so that a process which was asleep does not open it after all
}

// maxBroken is how many refused lines a batch lists of which nothing can be sent.
const maxBroken = 1000

// runID returns the id of the run: under a caller's key always the same, so that two gateways cannot make two.
func (m *making) runID(try int) (string, error) {
	if m.client.Once == "" {
		return m.s.Home.World.NewID()
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s\n%s", try, m.user.Name, m.client.Once))
	return "k" + hex.EncodeToString(sum[:12]), nil
}
