package cli_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"assay/internal/simulator"
)

// shop is a bench whose bill is held against what was quoted.
type shop struct {
	*bench
	mu   sync.Mutex
	live []simulator.Charge
}

func newShop(t *testing.T) *shop {
	t.Helper()
	s := &shop{}
	s.bench = newBench(t, simulator.Options{Seed: 7, Charged: func(c simulator.Charge) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.live = append(s.live, c)
	}})
	return s
}

// billed returns how many answers the simulator has billed by now, and for how much.
func (s *shop) billed() (requests int, dollars float64) {
	s.t.Helper()
	take := func(c simulator.Charge) error {
		if c.Dollars == nil {
			return fmt.Errorf("no price for %s", c.Model)
		}
		requests++
		dollars += *c.Dollars
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.sim.EachCharge(take)
	for _, c := range s.live {
		if err == nil {
			err = take(c)
		}
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return requests, dollars
}

// quote is what a command said would be paid.
type quote struct {
	requests       int
	upTo           bool
	expected, most float64
}

var quoted = regexp.MustCompile(`You pay now: (?:nothing|\$([0-9.]+) \(at most \$([0-9.]+)\) for (up to )?([0-9,]+) new requests?)`)

func (s *shop) quoteIn(text string) quote {
	s.t.Helper()
	m := quoted.FindStringSubmatch(text)
	if m == nil || m[1] == "" { // what quotes nothing has to cost nothing
		return quote{}
	}
	n, err := strconv.Atoi(strings.ReplaceAll(m[4], ",", ""))
	if err != nil {
		s.t.Fatal(err)
	}
	amount := func(text string) float64 {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			s.t.Fatal(err)
		}
		return f
	}
	return quote{requests: n, upTo: m[3] != "", expected: amount(m[1]), most: amount(m[2])}
}

// pays runs a command that quotes, and holds the quote against what the simulator bills for it. It returns how many requests that was.
func (s *shop) pays(what string, code int, args ...string) int {
	s.t.Helper()
	before, paid := s.billed()
	r := s.must(code, args...)
	q := s.quoteIn(r.errors + r.out)
	after, paidNow := s.billed()
	n, dollars := after-before, paidNow-paid
	if n > q.requests || !q.upTo && n != q.requests {
		s.t.Errorf("%s: %d requests were quoted (up to: %v), %d were billed\n%s", what, q.requests, q.upTo, n, r.errors+r.out)
	}
	if dollars > q.most*1.005+1e-6 { // as it is printed: rounded
		s.t.Errorf("%s: at most $%v was quoted, $%v was billed\n%s", what, q.most, dollars, r.errors+r.out)
	}
	if n > 0 && (dollars > q.expected*5 || dollars < q.expected/5) {
		s.t.Errorf("%s: $%v was expected, $%v was billed", what, q.expected, dollars)
	}
	s.t.Logf("%s: quoted %+v, billed %d for $%.6f", what, q, n, dollars)
	return n
}

const quotedStudy = `study: quoted
inputs: {q: {file: q.csv}}
canary: false
lanes:
  mini: {model: openai/gpt-4.1-mini, max_tokens: 80}
  nano: {model: openai/gpt-4.1-nano, max_tokens: 80}
  judge: {model: openai/gpt-4.1, max_tokens: 80}
stages:
  - {name: answers, ask: q, lanes: [mini, nano], prompt: "{{ text }}"}
  - {name: grades, judge: answers, rubric: likert, judges: [judge]}
`

// questions returns a table of questions without ids.
func questions(first, last int) string {
	var b strings.Builder
	b.WriteString("text,expect\n")
	for i := first; i <= last; i++ {
		fmt.Fprintf(&b, "What is %d times %d?,%d\n", i, i+1, i*(i+1))
	}
	return b.String()
}

// TestWhatIsQuotedIsWhatIsPaid reads the price before the question, says yes, and compares it with the simulator's own bill.
func TestWhatIsQuotedIsWhatIsPaid(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"batch", "live"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := newShop(t)
			run := []string{"run", "study.yaml", "--yes", "--mode", mode}
			s.write("study.yaml", quotedStudy)
			s.write("q.csv", questions(1, 6))
			s.pays("the first run", 0, run...)
			s.pays("the same again", 0, run...)
			rows := strings.SplitAfter(strings.TrimSpace(questions(1, 6)), "\n")
			s.write("q.csv", rows[0]+rows[6]+"\n"+rows[5]+rows[4]+rows[3]+rows[2]+rows[1])
			if n := s.pays("a sorted table", 0, run...); n != 0 {
				t.Errorf("a sorted table: %d are paid again", n)
			}
			s.write("q.csv", rows[0]+"What is 0 times 1?,0\n"+strings.Join(rows[1:], ""))
			if n := s.pays("a row on top", 0, run...); n != 4 {
				t.Errorf("a row on top: %d are paid, want 4", n)
			}
			s.write("q.csv", questions(11, 16))
			if n := s.pays("other questions", 0, run...); n != 24 {
				t.Errorf("other questions: %d are paid, want 24", n)
			}
			s.write("study.yaml", strings.Replace(quotedStudy, "nano: {model: openai/gpt-4.1-nano", "nano: {model: openai/gpt-4o-mini", 1))
			if n := s.pays("another model in a lane", 0, run...); n != 12 {
				t.Errorf("another model in a lane: %d are paid, want 12", n)
			}
			s.write("study.yaml", quotedStudy)
			if n := s.pays("a lane that comes back", 0, run...); n != 0 {
				t.Errorf("a lane that comes back: %d are paid", n)
			}
			added := strings.Replace(quotedStudy, "  judge:", "  new: {model: openai/gpt-4o-mini, max_tokens: 80}\n  judge:", 1)
			added = strings.Replace(added, "[mini, nano]", "[mini, nano, new]", 1)
			s.write("study.yaml", added)
			s.pays("a lane under another name", 0, run...)
			s.write("q.csv", questions(11, 20))
			if n := s.pays("more rows", 0, run...); n != 24 {
				t.Errorf("more rows: %d are paid, want 24", n)
			}
		})
	}
}

// TestWhatIsBoughtLaterIsPaidAsQuoted does the same for what is asked beyond a first run: a limit that is raised, another sample,
// comparisons that settle, failed requests, answers that are asked anew, and batch files.
func TestWhatIsBoughtLaterIsPaidAsQuoted(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	arena := strings.Replace(quotedStudy, "  - {name: grades, judge: answers, rubric: likert, judges: [judge]}\n",
		"  - {name: arena, compare: answers, rubric: better, judges: [judge], pairs: {per_lane_pair: 4, seed: 7}}\n", 1)
	s.write("study.yaml", arena)
	s.write("q.csv", questions(1, 12))
	s.pays("some rows", 0, "run", "study.yaml", "--yes", "--limit", "8")
	s.pays("all rows", 0, "run", "study.yaml", "--yes")
	s.pays("comparisons that settle", 0, "run", "study.yaml", "--yes", "--settle", "mini, nano", "--budget", "0.02 USD")
	if n := s.pays("one answer anew", 0, "redo", "quoted", "--stage", "answers", "--lane", "mini", "--item", "1", "--yes"); n == 0 {
		t.Error("nothing was asked anew")
	}
	sampled := strings.Replace(quotedStudy, "quoted", "sampled", 1)
	s.write("sampled.yaml", strings.Replace(sampled, "file: q.csv", "file: q.csv, sample: {n: 5, seed: 1}", 1))
	s.pays("a sample", 0, "run", "sampled.yaml", "--yes")
	s.pays("another sample", 0, "run", "sampled.yaml", "--yes", "--set", "inputs.q.sample.seed=2")

	s.write("errs.yaml", strings.Replace(quotedStudy, "quoted", "errs", 1))
	rule := httptest.NewRequest(http.MethodPost, "/sim/faults", strings.NewReader("openai ask 400 x4\n"))
	s.sim.ServeHTTP(httptest.NewRecorder(), rule)
	s.must(3, "run", "errs.yaml", "--yes", "--mode", "live", "--no-canary")
	s.pays("failed requests again", 0, "retry", "errs", "--only", "rejected", "--yes")

	var lines strings.Builder
	for i := range 6 {
		fmt.Fprintf(&lines, `{"custom_id":"c%d","method":"POST","url":"/v1/chat/completions","body":{"model":"gpt-4.1-mini","max_tokens":50,`+
			`"messages":[{"role":"user","content":"What is %d?"}]}}`+"\n", i, i)
	}
	s.write("b.jsonl", lines.String())
	s.pays("a batch file", 0, "batch", "submit", "b.jsonl", "--yes", "--wait")
	s.write("c.jsonl", strings.ReplaceAll(lines.String(), "What is", "What was"))
	short := s.assay("batch", "submit", "c.jsonl", "--yes", "--budget", "0.000001 USD")
	if !strings.Contains(short.errors, "does not cover what is expected") {
		t.Errorf("a budget that is too small is not told of before sending:\n%s", short.errors)
	}
}
