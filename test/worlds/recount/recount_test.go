package recount_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"assay/examples"
	"assay/internal/show/cli"
	"assay/internal/show/cli/shell"
	"assay/internal/study/studyfile"
	"assay/test/worlds/recount"
	"assay/test/worlds/recount/rubrics"
)

// typed runs a command in a folder and returns what it prints; exit code 3 is that of something incomplete.
func typed(dir string, args ...string) (string, error) {
	return typedTo(http.DefaultTransport, nil, dir, args...)
}

// typedTo runs a command whose calls go to some providers.
func typedTo(providers http.RoundTripper, env map[string]string, dir string, args ...string) (string, error) {
	var out, told bytes.Buffer
	set := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	code := cli.Main(context.Background(), shell.World{Args: args, Env: set, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &told,
		Now: time.Now, Disk: shell.Disk{Dir: dir}, HTTP: providers})
	if code != 0 && code != 3 {
		return "", fmt.Errorf("assay %s: exit code %d\n%s%s", strings.Join(args, " "), code, &out, &told)
	}
	return out.String(), nil
}

// exported reads what the latest run of a folder exports and claims.
func exported(dir string, o studyfile.Options) (*recount.Run, error) {
	if _, err := typed(dir, "export", "latest", "--format", "jsonl", "--out", "exported", "--replace"); err != nil {
		return nil, err
	}
	claims, err := typed(dir, "analyse", "latest", "--json")
	if err != nil {
		return nil, err
	}
	rows := filepath.Join(dir, "exported")
	if err := os.WriteFile(filepath.Join(rows, "analyse.json"), []byte(claims), 0o600); err != nil {
		return nil, err
	}
	r, err := recount.Read(os.DirFS(rows))
	if err != nil {
		return nil, err
	}
	st, problems := studyfile.Read(os.DirFS(dir), "study.yaml", o)
	if st == nil {
		return nil, problems
	}
	r.Rubrics, err = rubrics.Of(st)
	return r, err
}

// example is an example study whose judges are machines.
type example struct {
	name string
	set  string // makes it smaller
}

func studies() []example {
	return []example{{"start", ""}, {"spec-compliance", "inputs.prompts.limit=24"}, {"sycophancy", "inputs.questions.limit=5"},
		{"writing-pairs", "inputs.samples.limit=6"}}
}

// rehearsals are the examples, each rehearsed once for all tests.
var rehearsals = func() map[string]func() (*rehearsal, error) {
	out := map[string]func() (*rehearsal, error){}
	for _, s := range studies() {
		out[s.name] = sync.OnceValues(s.rehearse)
	}
	return out
}()

// rehearsed returns the rows and claims of an example, for the caller alone.
func rehearsed(t *testing.T, name string) *recount.Run {
	t.Helper()
	r, err := rehearsals[name]()
	if err != nil {
		t.Fatal(err)
	}
	own := *r.Run
	own.Verdicts = slices.Clone(r.Verdicts)
	return &own
}

func (e example) rehearse() (*rehearsal, error) {
	dir, err := os.MkdirTemp("", "recount")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	for _, x := range examples.All() {
		if x.Name == e.name {
			err = errors.Join(err, os.CopyFS(dir, x.FS))
		}
	}
	args, o := []string{"run", "study.yaml", "--rehearse"}, studyfile.Options{}
	if e.set != "" {
		args, o.Set = append(args, "--set", e.set), []string{e.set}
	}
	if _, more := typed(dir, args...); err != nil || more != nil {
		return nil, errors.Join(err, more)
	}
	r, err := exported(dir, o)
	if err != nil {
		return nil, err
	}
	printed, err := printedIn(dir)
	return &rehearsal{r, printed}, err
}

// printedIn returns what is printed of the latest run of a folder.
func printedIn(dir string) (out recount.Printed, err error) {
	for _, x := range []struct {
		to   *string
		args []string
	}{
		{&out.CSV, []string{"analyse", "latest", "--csv"}}, {&out.Terminal, []string{"analyse", "latest", "--full"}},
		{&out.Report, []string{"report", "latest", "--out", "-"}},
	} {
		if *x.to, err = typed(dir, x.args...); err != nil {
			return out, err
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "exported", "findings.jsonl"))
	out.Export = string(text)
	return out, err
}

// rehearsal is a run with all that is printed of it.
type rehearsal struct {
	*recount.Run
	printed recount.Printed
}

// kinds are those of which a check of the examples has to compare at least one.
var kinds = []string{
	"coverage", "complete", "rate", "rate: interval", "rate: n", "bounds", "mean", "mean: interval", "difference",
	"difference: interval", "difference: n", "difference: test", "primary", "rank", "tiers", "sentences", "flips", "flips: interval",
	"excess", "excess: interval", "excess: test", "scores of flips", "scores of flips: interval", "strength", "strength: n",
	"strength: interval", "strength: rank", "strength: standard error", "order effect", "tie parameter", "reliability",
	"win rate", "win rate: record", "win rate: interval", "average win rate", "corrected wins", "corrected wins: record",
	"first wins", "first wins: test", "first wins by order", "consistency", "same both ways", "order correlation",
	"price", "judges: agreement", "judges: kappa",
	"judges: alpha", "judges: fleiss", "judges: ac1", "judges: judge mean of lane", "judges: mean over judges",
}

func TestTheExamplesAreRecounted(t *testing.T) {
	t.Parallel()
	all := recount.NewResult()
	for _, s := range studies() {
		r := rehearsed(t, s.name)
		got := recount.Check(r)
		for _, d := range got.Disagreements {
			t.Errorf("%s: %s", s.name, d)
		}
		all.Merge(got)
	}
	for _, kind := range kinds {
		if all.Compared[kind] == 0 {
			t.Errorf("%s: compared not once", kind)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(all.Skipped)) {
		t.Logf("%d not computed: %s", all.Skipped[kind], kind)
	}
}

// TestNothingIsShared holds the counting apart from what it counts again: it imports the standard library alone.
func TestNothingIsShared(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, imp := range file.Imports {
			if path := strings.Trim(imp.Path.Value, `"`); strings.HasPrefix(path, "assay") || strings.Contains(path, ".") {
				t.Errorf("%s imports %s", name, path)
			}
		}
	}
}
