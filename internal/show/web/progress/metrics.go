package progress

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"assay/internal/find/results/runs"
	"assay/internal/keep/store"
	"assay/internal/show/web/site"
)

// RequestCounts counts what was served, by status.
type RequestCounts struct {
	mu      sync.Mutex
	status  map[int]int64
	seconds float64
}

// statusWriter remembers the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets deadlines through.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Count notes every answer.
func (c *RequestCounts) Count(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began, sw := time.Now(), &statusWriter{ResponseWriter: w}
		next.ServeHTTP(sw, r)
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.status == nil {
			c.status = map[int]int64{}
		}
		c.status[max(sw.status, http.StatusOK)]++
		if !strings.HasSuffix(r.URL.Path, "/news") { // which last as long as a page is open
			c.seconds += time.Since(began).Seconds()
		}
	})
}

// maxMeasured is how many runs metrics cover: the newest, so that they do not grow for ever.
const maxMeasured = 20

// Metrics are numbers for Prometheus.
func (s *Pages) Metrics(w http.ResponseWriter, r *http.Request) {
	m := &exposition{}
	m.gauge("assay_info", "The program.", "version", s.Version)(1)
	for _, h := range s.Homes() {
		if err := s.measure(r.Context(), h, m); err != nil {
			s.Fail(w, r, err)
			return
		}
	}
	s.Requests.mu.Lock()
	for _, status := range sortedKeys(s.Requests.status) {
		m.counter("assay_http_requests_total", "Requests that the dashboard answered.", "code",
			strconv.Itoa(status))(float64(s.Requests.status[status]))
	}
	m.counter("assay_http_seconds_total", "Time that the dashboard took to answer.")(s.Requests.seconds)
	s.Requests.mu.Unlock()
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	w.Write(m.bytes())
}

func sortedKeys(m map[int]int64) []int {
	var keys []int
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// measure writes the states of the newest runs of a home.
func (s *Pages) measure(ctx context.Context, h *site.Home, m *exposition) error {
	measured, err := h.Pages.RunsPage(ctx, 0, maxMeasured)
	if err != nil {
		return err
	}
	rows, err := s.RowsOf(ctx, h, measured)
	if err != nil {
		return err
	}
	users, err := h.Clients.ClientUsage(ctx)
	if err != nil {
		return err
	}
	for _, u := range users {
		for _, n := range u.Numbers() {
			m.gauge("assay_user_"+n.Name, n.Help, "user", u.Owner, "rehearsal", strconv.FormatBool(h.Rehearsal))(n.Value)
		}
	}
	for i, r := range rows {
		of := []string{"run", r.ID, "study", r.Study, "rehearsal", strconv.FormatBool(r.Rehearsal)}
		m.gauge("assay_run_open", "1 while a run is open.", of...)(map[bool]float64{true: 1}[r.Standing.Run.State == store.RunOpen])
		m.gauge("assay_run_held", "Segments and lanes that wait for a person.", of...)(float64(r.Held))
		m.gauge("assay_run_spent_dollars", "What settled requests cost, as far as their price is known.", of...)(r.Spent)
		m.gauge("assay_run_unpriced", "Settled requests without a known price.", of...)(float64(r.Unpriced))
		m.gauge("assay_run_reserved_dollars", "What requests in flight may cost.", of...)(r.Reserved)
		if r.Budget != nil {
			m.gauge("assay_run_budget_dollars", "What the run may spend.", of...)(*r.Budget)
		}
		if r.CollectBefore != nil {
			m.gauge("assay_run_collect_before_seconds", "When the first result that is not collected is thrown away, in Unix time.",
				of...)(float64(r.CollectBefore.Unix()))
		}
		far, err := runs.ProgressOf(ctx, h.Reader, measured[i])
		if err != nil {
			return err
		}
		for _, l := range far[measured[i].No].Lanes {
			at := append(slices.Clone(of), "stage", l.Stage, "lane", l.Name)
			m.gauge("assay_requests_planned", "Requests that are to have an answer, at most.", at...)(float64(l.Wanted))
			for state, n := range map[string]int64{"in_flight": l.InFlight, "asked_live": l.Live, "staged": l.Staged, "halted": l.Halted} {
				m.gauge("assay_requests", "Requests by what stands for them.", append(slices.Clone(at), "state", state)...)(float64(n))
			}
			for e, n := range l.Endings {
				m.gauge("assay_requests", "Requests by what stands for them.", append(slices.Clone(at), "state", string(e))...)(float64(n))
			}
		}
	}
	return nil
}

// exposition is numbers in the text format of Prometheus: those of one name together.
type exposition struct {
	names []string
	heads map[string]string
	lines map[string][]string
}

func (m *exposition) gauge(name, help string, labels ...string) func(float64) {
	return m.number(name, help, "gauge", labels)
}

func (m *exposition) counter(name, help string, labels ...string) func(float64) {
	return m.number(name, help, "counter", labels)
}

func (m *exposition) number(name, help, kind string, labels []string) func(float64) {
	if m.heads == nil {
		m.heads, m.lines = map[string]string{}, map[string][]string{}
	}
	if m.heads[name] == "" {
		m.names = append(m.names, name)
		m.heads[name] = fmt.Sprintf("# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
	}
	return func(v float64) {
		m.lines[name] = append(m.lines[name], name+labelText(labels)+" "+strconv.FormatFloat(v, 'g', -1, 64)+"\n")
	}
}

// labelText spells labels; their values are foreign.
func labelText(labels []string) string {
	if len(labels) == 0 {
		return ""
	}
	escape := strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
	var parts []string
	for i := 0; i+1 < len(labels); i += 2 {
		parts = append(parts, labels[i]+`="`+escape.Replace(strings.ToValidUTF8(labels[i+1], "\uFFFD"))+`"`)
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func (m *exposition) bytes() []byte {
	var b bytes.Buffer
	for _, name := range m.names {
		b.WriteString(m.heads[name])
		slices.Sort(m.lines[name])
		for _, l := range m.lines[name] {
			b.WriteString(l)
		}
	}
	return b.Bytes()
}
