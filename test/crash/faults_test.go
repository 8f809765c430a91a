package crash

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

// fault is a way in which providers fail, and what the run has to come to.
type fault struct {
	rules string // separated by ;
	study string // with the arguments of run; empty: one turn without canaries
	code  int
	want  string // lanes that are not open with all their answers, and strays
}

// harmless are faults that a run gets over: everything is answered, and everything is billed once. A job that is not listed at
// first is hidden from a number of lists, not for a time, which a busy machine may let pass between any two of them.
func harmless() []fault {
	all := []fault{}
	for _, rule := range []string{
		// these wait longest
		"anthropic create 500 once", "* create drop x3", "anthropic create 500 once; anthropic list 529 x2",
		"* create drop x3; * list drop x3", "openai upload 429 once", "openai upload 500 x2", "openai upload drop-reply once",
		"gemini upload truncate x2", "gemini upload drop-reply once", "* upload slow=5ms", "openai upload error-200 once",
		"openai upload redirect once", "openai create 429 once", "openai create 429=bare once", "anthropic create 529 once",
		"gemini create 503 once", "openai create drop-reply once", "anthropic create drop-reply once", "gemini create drop-reply once",
		"openai create truncate once", "anthropic create truncate once", "gemini create truncate once", "openai create stall=600ms once",
		"anthropic create stall=600ms once", "openai create error-200 once", "openai create redirect once", "openai create slow=500ms once",
		"* check 500 x3", "* check 404 x2", "* check 429=1ms x3", "* check drop x3", "* check drop-reply x3", "* check truncate x3",
		"* check stall=50ms x3", "* check error-200 x3", "* check redirect x3", "* check revoke x2", "openai check freeze x3",
		"openai check wrong-counts", "openai check no-output x2", "openai check blank-ids", "openai check state=puzzled x3",
		"* check hide=100ms", "* list 500 x3", "* list truncate x3", "* list error-200 x3", "* list hide=24h x4", "* fetch 500 x3",
		"* fetch 404 x2", "* fetch truncate x6", "* fetch truncate=99% x3", "* fetch drop x3", "* fetch drop-reply x3",
		"* fetch stall=50ms x3", "* fetch error-200 x3", "* fetch redirect x3", "* fetch missing x3", "* fetch missing=3 once",
		"* fetch malformed once", "openai fetch revoke x2", "* fetch hide=100ms", "openai create fail=token_limit_exceeded x2",
		"openai create stuck=100ms", "* create in-order", "* file 500 x3", "* file drop-reply x3", "* models 500 x3", "* models drop x3",
	} {
		all = append(all, fault{rules: rule})
	}
	for _, pair := range []string{ // two at once: the second strikes while the run gets over the first
		"openai create drop-reply once; openai list 500 x2", "anthropic create drop-reply once; anthropic list truncate x2",
		"gemini create drop-reply once; gemini list hide=24h x2", "openai create drop-reply once; openai check 404 x3",
		"* fetch missing once; * fetch truncate nth=2", "* fetch missing x3; * check 500 x5",
		"openai create fail=token_limit_exceeded once; openai upload 500 once", "* check state=puzzled x2; * check freeze x4",
		"openai create stall=600ms once; openai list redirect once", "* fetch stall=50ms x2; * fetch error-200 nth=3",
	} {
		all = append(all, fault{rules: pair})
	}
	for _, rule := range []string{
		"openai ask 429 x3", "* ask 500 x3", "* ask error-200 once", "* ask redirect once", "* ask drop once", "* ask stall=50ms x2",
		"anthropic ask 529 x2",
	} {
		all = append(all, fault{rules: rule, study: "single"})
	}
	for _, rule := range []string{"* delete 500 x2", "* delete drop-reply x2", "* file 503 x3", "* file drop-reply x2",
		"* delete 429=1ms x2; * file truncate x2"} {
		all = append(all, fault{rules: rule, study: "single --no-canary --set cleanup=true"})
	}
	for _, rule := range []string{
		"xai add 429 once", "xai add 500 x2", "xai add drop once", "xai add drop-reply once", "xai add truncate once",
		"xai add error-200 once", "xai add stall=600ms once", "xai create drop-reply once; xai add 503 x2", "vertex create shards",
		"vertex create shards=2; gcs fetch truncate x2", "gcs upload 500 x2", "gcs upload drop-reply once",
		"gcs list 500 x2; vertex create shards", "fireworks file 500 x3", "fireworks upload drop-reply once; fireworks file drop x2",
		"* models 503 x2",
	} {
		all = append(all, fault{rules: rule, study: "wide --no-canary"})
	}
	return append(all, fault{rules: "* ask 500 20%", study: "live"}, fault{rules: "anthropic ask 429=1ms 30%", study: "live"})
}

// together lets several faults strike one run, each another call or another provider: a run that gets over one alone gets over them
// all, and most of what a run takes is not the faults. What is refused or not found counts with the failures before it: such a fault
// is alone.
func together(all []fault) (some []fault) {
	const most = 5
	alone := func(f fault) bool {
		return slices.ContainsFunc([]string{"revoke", "404", "hide"}, func(what string) bool { return strings.Contains(f.rules, what) })
	}
	for _, f := range all {
		i := slices.IndexFunc(some, func(g fault) bool {
			return g.study == f.study && !alone(f) && !alone(g) && apart(g.calls(), f.calls()) && len(g.calls())+len(f.calls()) <= most
		})
		if i < 0 {
			some = append(some, f)
		} else {
			some[i].rules += "; " + f.rules
		}
	}
	return some
}

// calls returns what a fault strikes: providers, and the call of each.
func (f fault) calls() (all [][2]string) {
	for r := range strings.SplitSeq(f.rules, ";") {
		words := strings.Fields(r)
		all = append(all, [2]string{words[0], words[1]})
	}
	return all
}

// apart reports whether no call of one list is one of the other.
func apart(some, others [][2]string) bool {
	for _, a := range some {
		for _, b := range others {
			if a[1] == b[1] && (a[0] == b[0] || a[0] == "*" || b[0] == "*") {
				return false
			}
		}
	}
	return true
}

// harmful are faults that leave a mark: an ending without an answer, a lane that waits for a person, or a higher bill.
func harmful() []fault {
	held, stopped := "gpt held open=3", "gpt stopped open=3"
	return []fault{
		{rules: "* fetch missing", code: 3,
			want: "claude open answered=2 lost=1; flash open answered=2 lost=1; gpt open answered=2 lost=1"},
		{rules: "openai check no-output", code: 3, want: "gpt open lost=3"},
		{rules: "openai fetch duplicate", want: "strays duplicate=1"},
		{rules: "openai fetch foreign", want: "strays foreign=1"},
		{rules: "openai fetch duplicate=2; openai fetch foreign=2", want: "strays duplicate=2 foreign=2"},
		{rules: "anthropic create refuse=100%", want: "claude open refused=3"},
		{rules: "openai create fail", code: 5, want: held},
		{rules: "openai create 400", code: 5, want: held},
		{rules: "openai create 413", code: 5, want: held},
		{rules: "openai create quota", code: 3, want: stopped},
		{rules: "openai create revoke", code: 3, want: stopped},
		{rules: "openai create 403", code: 3, want: stopped},
		{rules: "openai upload revoke", code: 3, want: stopped},
		{rules: "openai upload quota; anthropic create revoke", code: 3, want: "claude stopped open=3; gpt stopped open=3"},
		{rules: "openai create fail; anthropic create quota", code: 5, want: "claude stopped open=3; gpt held open=3"},
		{rules: "openai ask 400", study: "single", code: 3, want: "gpt stopped rejected=1 open=2"},
		{rules: "openai ask quota", study: "single", code: 3, want: stopped},
		{rules: "openai ask revoke", study: "single", code: 3, want: stopped},
		{rules: "openai ask refuse=100%", study: "single", want: "gpt open answered=2 refused=1"},
		{rules: "openai create expire=50% once", study: "single --no-canary --set live_below=0"},
		{rules: "openai create expire=0%", study: "single --no-canary --set live_below=0", code: 3, want: "gpt open expired=3"},
		{rules: "gemini create expire=50% once"},
		{rules: "openai create fail-lines=50% once", study: "single --no-canary --set live_below=0"},
		{rules: "openai create fail-lines=100%", study: "single --no-canary --set live_below=0", code: 3, want: "gpt open errored=3"},
		{rules: "openai create fail-lines=100% once; openai create drop-reply nth=2", study: "single --no-canary --set live_below=0"},
		{rules: "openai create expire=50% once; openai fetch missing once", study: "single --no-canary --set live_below=0"},
		{rules: "together create expire=50% once; together fetch malformed once; together fetch missing nth=2", study: "single " +
			"--no-canary --set live_below=0 --set lanes.gpt.model=together/meta-llama/Llama-3.3-70B-Instruct-Turbo"},
	}
}

// TestFaultsEndInTheRightStateWithTheRightExitCode runs studies against providers that fail in every way the simulator
// knows, alone and two at a time.
func TestFaultsEndInTheRightStateWithTheRightExitCode(t *testing.T) {
	t.Parallel()
	all := harmless()
	if *pairs > 0 {
		all = together(all)
	}
	all = append(all, harmful()...)
	each(len(all), func(i int) {
		f := all[i]
		if f.study == "" {
			f.study = "single --no-canary"
		}
		if err := f.hold(t.Context(), t.TempDir()); err != nil {
			t.Errorf("%s: %s: %v", f.study, f.rules, err)
		}
	})
}

func (f fault) hold(ctx context.Context, dir string) error {
	args := strings.Fields(f.study)
	var rules []string
	for r := range strings.SplitSeq(f.rules, ";") {
		rules = append(rules, strings.TrimSpace(r))
	}
	s, err := open(dir, args[0], "", rules...)
	if err != nil {
		return err
	}
	defer s.close()
	e := s.here(ctx, append([]string{"run", "study.yaml", "--yes"}, args[1:]...)...)
	st, err := s.state(ctx)
	if err != nil {
		return err
	}
	marks, err := s.marks(ctx, st)
	if err != nil {
		return err
	}
	if e.code != f.code || marks != f.want {
		return fmt.Errorf("want exit code %d and %q, got %q: %s", f.code, f.want, marks, e)
	}
	if st.Reserved != 0 && st.Result != "" {
		return fmt.Errorf("%s stay reserved", st.Reserved)
	}
	return s.paidAtMostOnce(ctx)
}

// marks lists what is not as in a run without faults.
func (s *session) marks(ctx context.Context, st state) (string, error) {
	var marks []string
	for _, name := range slices.Sorted(maps.Keys(st.Lanes)) {
		l := st.Lanes[name]
		if l.State == store.LaneOpen && l.Endings[assay.Answered] == l.Planned {
			continue
		}
		_, lane, _ := strings.Cut(name, " ")
		text := lane + " " + string(l.State)
		for _, e := range assay.Endings() {
			if n := l.Endings[e]; n > 0 {
				text += fmt.Sprintf(" %s=%d", e, n)
			}
		}
		if l.Open > 0 {
			text += fmt.Sprintf(" open=%d", l.Open)
		}
		marks = append(marks, text)
	}
	strays, err := s.rows(ctx, "SELECT kind, COUNT(*) FROM strays GROUP BY kind")
	if len(strays) > 0 {
		marks = append(marks, "strays "+strings.ReplaceAll(strings.Join(strays, "|"), " ", "="))
	}
	return strings.ReplaceAll(strings.Join(marks, "; "), "|", " "), err
}

// paidAtMostOnce wants no request billed twice, in batches or live.
func (s *session) paidAtMostOnce(ctx context.Context) error {
	bill, err := s.billed()
	if err != nil {
		return err
	}
	times := map[string]int{}
	for _, j := range bill.Jobs {
		for _, id := range j.Billed {
			_, key, err := assay.ParseCustomID(id)
			if err != nil {
				return err
			}
			if times[key.String()]++; times[key.String()] > 1 {
				return fmt.Errorf("request %s was billed twice", key)
			}
		}
	}
	live, err := s.rows(ctx, `SELECT COUNT(DISTINCT a.key) FROM attempts a JOIN segments g ON g.no = a.segment_no WHERE g.mode = 'live'`)
	if err != nil {
		return err
	}
	asked := 0
	for _, a := range bill.Live {
		asked += a.Count
	}
	if n := fmt.Sprint(asked); len(n) > len(live[0]) || len(n) == len(live[0]) && n > live[0] {
		return fmt.Errorf("%s live requests were billed %d times", live[0], asked)
	}
	return nil
}
