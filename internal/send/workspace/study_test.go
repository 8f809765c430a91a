package workspace

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/send/engine"
	"assay/internal/send/script/snapshot"
	"assay/internal/study/plan"
)

func TestProblemsOfAStudyCarryNamesAsTheUserTypesThem(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	if err := r.world.Disk.WriteNew("folder/study.yaml", []byte("study: x\nnonsense: 1\n")); err != nil {
		t.Fatal(err)
	}
	name := r.world.StudyFile("folder")
	if name != "folder/study.yaml" || r.world.StudyFile("study.yaml") != "study.yaml" {
		t.Error(name)
	}
	d, problems, err := r.world.ReadStudy(r.ctx, name, StudyOptions{})
	if d != nil || err != nil || len(problems) == 0 || problems[0].File != "folder/study.yaml" {
		t.Error(d, problems, err)
	}
	r.write("study.yaml", strings.Replace(smallStudy, "openai/gpt-4.1-mini", "nowhere/model", 1))
	if d, problems, err = r.world.ReadStudy(r.ctx, "study.yaml", StudyOptions{}); d != nil || err != nil || len(problems.Errors()) == 0 {
		t.Error(d, problems, err)
	}
}

func TestKeysAndProgramsThatAreMissingKeepAStudyFromBeingRun(t *testing.T) {
	t.Parallel()
	judged := strings.Replace(smallStudy, "rubric: contains", `rubric: {command: ["./judge.sh"], labels: {yes: 1, no: 0}}`, 1)
	r := newRig(t, judged)
	warned, problems, err := r.world.ReadStudy(r.ctx, "study.yaml", StudyOptions{})
	if warned == nil || err != nil || !strings.Contains(problems.Error(), "there is no file ./judge.sh in the study's folder") {
		t.Error(problems, err)
	}
	want := r.wanted(StudyOptions{Running: true}, snapshot.Settings{})
	p := r.world.Missing(want.Input, want.Plan, want.File, false)
	if len(p.Errors()) != 1 {
		t.Error(p)
	}
	delete(r.env, "OPENAI_API_KEY")
	if p = r.world.Missing(want.Input, want.Plan, want.File, false); len(p.Errors()) != 2 ||
		!strings.Contains(p.Error(), "OPENAI_API_KEY is not set: lanes a, b cannot run") {
		t.Error(p)
	}
	r.env["OPENAI_API_KEY"] = "two words"
	if p = r.world.Missing(want.Input, want.Plan, want.File, false); len(p.Errors()) != 2 ||
		!strings.Contains(p.Error(), "copy the key again, alone") {
		t.Error(p)
	}
	if _, problems, _ = r.world.ReadStudy(r.ctx, "study.yaml", StudyOptions{}); len(problems.Errors()) != 0 ||
		!strings.Contains(problems.Error(), "OPENAI_API_KEY has a space in it: lanes a, b cannot run") {
		t.Error(problems)
	}
	r.env["OPENAI_API_KEY"], r.env["OPENAI_BASE_URL"] = "key", "localhost"
	_, problems, _ = r.world.ReadStudy(r.ctx, "study.yaml", StudyOptions{})
	for _, p := range []assay.Problems{problems, r.world.Missing(want.Input, want.Plan, want.File, false)} {
		if !strings.Contains(p.Error(), "OPENAI_BASE_URL is no address: lanes a, b cannot run (such as http://localhost:8000/v1)") {
			t.Error(p)
		}
	}
	delete(r.env, "OPENAI_BASE_URL")
	want = r.wanted(StudyOptions{Running: true}, snapshot.Settings{Lanes: []string{"a"}})
	if keys := r.world.Keys(want.Input, want.Plan); len(keys) != 1 || len(keys[0].Lanes) != 1 {
		t.Errorf("%+v", keys)
	}
	if name, trouble := r.world.KeyTrouble([]string{"NONE"}); name != "" || trouble != "" {
		t.Error(name, trouble)
	}
}

// TestAProviderThatNeedsMoreThanAKeyKeepsAStudyFromBeingRun: an open run that can never be sent would be in the way of the next one.
func TestAProviderThatNeedsMoreThanAKeyKeepsAStudyFromBeingRun(t *testing.T) {
	t.Parallel()
	r := newRig(t, strings.ReplaceAll(smallStudy, "openai/gpt-4.1-mini", "vertex/gemini-2.5-flash"))
	for _, c := range []struct{ env, lacks, hint string }{
		{"", "Vertex AI needs the project, the region, the bucket or gs:// folder for files", "project: …, location: …, input: gs://…"},
		{"GOOGLE_CLOUD_PROJECT REGION", "Vertex AI needs the bucket or gs:// folder for files: lane", "or set BUCKET_NAME"},
		{"BUCKET_NAME", "", ""},
	} {
		for _, name := range strings.Fields(c.env) {
			r.env[name] = "mine"
		}
		_, warned, err := r.world.ReadStudy(r.ctx, "study.yaml", StudyOptions{})
		if err != nil {
			t.Fatal(err)
		}
		want := r.wanted(StudyOptions{Running: true}, snapshot.Settings{})
		for _, p := range []assay.Problems{warned, r.world.Missing(want.Input, want.Plan, want.File, false)} {
			if told := strings.Contains(p.Error(), "Vertex AI needs"); told != (c.lacks != "") || !strings.Contains(p.Error(), c.lacks) ||
				!strings.Contains(p.Error(), c.hint) {
				t.Errorf("with %q: %v", c.env, p)
			}
		}
	}
}

func TestPricesOfAFileLieOverTheCatalogue(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	r.write("prices.yaml", "- {vendor: openai, model: gpt-4.1, input: 7, output: 9, date: 2026-11-01, source: invoice}\n")
	c, err := r.world.Catalog("prices.yaml")
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, p := range c.Prices() {
		found = found || p.Vendor == "openai" && p.Model == "gpt-4.1" && p.Source == "invoice"
	}
	if !found {
		t.Error("the price of the file is not there")
	}
	r.write("broken.yaml", "nonsense: [\n")
	if _, err := r.world.Catalog("broken.yaml"); !isPrices(err, true) {
		t.Error(err)
	}
	if _, err := r.world.Catalog("absent.yaml"); !isPrices(err, false) {
		t.Error(err)
	}
	if _, _, err := r.world.ReadStudy(r.ctx, "study.yaml", StudyOptions{Prices: "absent.yaml"}); !isPrices(err, false) {
		t.Error(err)
	}
	run := r.begin(r.open(false), r.wanted(StudyOptions{Prices: "prices.yaml"}, snapshot.Settings{}))
	if run.State == "" {
		t.Error("no run")
	}
}

func isPrices(err error, form bool) bool {
	e, ok := errors.AsType[*PricesError](err)
	return ok && e.Form == form && errors.Unwrap(e) != nil
}

func TestAScopeIsSettingsOfTheStudy(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	sets, err := r.world.Sets("study.yaml", StudyOptions{}, Scope{Rows: "1-10", Items: []string{"one", `t"wo`}, Repeats: 3, NoCache: true})
	want := []string{"prompt_cache=false", "stages.answers.repeats=3", `inputs.questions.rows="1-10"`,
		`inputs.questions.where="id in [\"one\", \"t\\\"wo\"]"`}
	if d := cmp.Diff(want, sets); d != "" || err != nil {
		t.Error(d, err)
	}
	if sets, err = r.world.Sets("absent.yaml", StudyOptions{}, Scope{NoCache: true}); len(sets) != 1 || err != nil {
		t.Error("the study was read for nothing:", sets, err)
	}
	if _, err = r.world.Sets("absent.yaml", StudyOptions{}, Scope{Rows: "1"}); err == nil {
		t.Error("a study that is not there was narrowed")
	}
	r.write("study.yaml", strings.Replace(smallStudy, "  questions:\n", "  questions:\n    where: id != \"two\"\n", 1))
	sets, err = r.world.Sets("study.yaml", StudyOptions{}, Scope{Items: []string{"one"}})
	if d := cmp.Diff([]string{`inputs.questions.where="(id != \"two\") and id in [\"one\"]"`}, sets); d != "" || err != nil {
		t.Error(d, err)
	}
}

func TestCheckingOnlineAsksForModelsAndBatches(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	d := r.wanted(StudyOptions{}, snapshot.Settings{}).Input
	var works []string
	check := func() assay.Problems {
		works = nil
		return r.world.CheckOnline(r.ctx, d, func(k plan.Key) { works = append(works, k.Provider) })
	}
	if problems := check(); len(problems.Errors()) > 0 || len(works) != 1 {
		t.Error(problems, works)
	}
	r.env["OPENAI_API_KEY"] = "bad-key-of-openai"
	if problems := check(); len(problems.Errors()) != 1 || len(works) > 0 ||
		!strings.Contains(problems.Error(), "check the key in OPENAI_API_KEY") {
		t.Error(problems, works)
	}
	delete(r.env, "OPENAI_API_KEY")
	if problems := check(); len(problems) > 0 || len(works) > 0 {
		t.Error(problems, works)
	}
	denied := &assay.Fault{Class: assay.FaultDenied}
	vertex, _ := r.world.Accounts(d.Study).vendor("vertex")
	if hint := onlineHint(vertex, plan.Key{Provider: "vertex"}, denied); !strings.Contains(hint, "roles/aiplatform.user") {
		t.Error(hint)
	}
	if hint := onlineHint(vertex, plan.Key{Names: []string{"A", "B"}}, engine.ErrNoKey); hint != "set A or B" {
		t.Error(hint)
	}
}

func TestAModelThatAProviderDoesNotListIsAWarning(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	d := r.wanted(StudyOptions{}, snapshot.Settings{}).Input
	k := plan.Key{Provider: "openai", Lanes: []string{"a", "b", "none"}}
	var problems assay.Problems
	checkModels(d, k, nil, &problems)
	checkModels(d, k, []string{"models/gpt-4.1", "other"}, &problems)
	if len(problems.Warnings()) != 1 || !strings.Contains(problems.Error(), `lane b: openai does not list model "gpt-4.1-mini"`) {
		t.Error(problems)
	}
}

func TestAnAccountWithoutItsKeyIsKnownAndCannotBeUsed(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	a := r.world.Accounts(r.wanted(StudyOptions{}, snapshot.Settings{}).Input.Study)
	access, err := a.Access("openai")
	if err != nil || access.Fingerprint == "" || access.Batch == nil {
		t.Errorf("%+v, %v", access, err)
	}
	if again, err := a.Known("openai"); err != nil || again.Account != access.Account {
		t.Error("it was opened twice", err)
	}
	if got := a.Address("openai"); got != "http://simulator.example" {
		t.Error(got)
	}
	if got := a.KeyName("openai"); got != "OPENAI_API_KEY" {
		t.Error(got)
	}
	if _, err := a.Access("nowhere"); err == nil || a.KeyName("nowhere") != "" || a.Address("nowhere") != "" {
		t.Error("there is no such provider", err)
	}
	clear(r.env)
	b := r.world.Accounts(a.study)
	if _, err := b.Access("openai"); !errors.Is(err, engine.ErrNoKey) {
		t.Error(err)
	}
	if got := b.Address("openai"); got != "" {
		t.Error(got)
	}
	if HostOf("://") != "" || HostOf("https://user:secret@a.example/b?c") != "https://a.example" {
		t.Error("a host is not what it should be")
	}
}
