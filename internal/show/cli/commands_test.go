package cli_test

import (
	"bytes"
	"context"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/internal/show/cli"
	"assay/internal/show/cli/shell"
)

// designed are all commands there will ever be without a change of design; toCome are those not built yet.
var (
	designed = []string{
		"init", "check", "plan", "lock", "list", "completion", "version",
		"run", "judge", "resume", "tune", "notify", "worker", "cancel", "retry", "redo", "adopt", "resolve",
		"runs", "jobs", "show", "status", "results", "errors", "spend", "sql", "view",
		"analyse", "report", "compare", "trend", "export", "label", "bundle", "table",
		"batch", "gateway", "import", "clean", "backup", "restore", "sim",
	}
	toCome = []string{}
)

func TestThereIsNoCommandOutsideTheDesign(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	code := cli.Main(context.Background(), shell.World{
		Args: []string{"help", "--all"}, Stdout: &out, Stderr: &out, Env: func(string) (string, bool) { return "", false }, Now: time.Now,
	})
	if code != 0 {
		t.Fatalf("help: exit code %d\n%s", code, &out)
	}
	var got []string
	for _, m := range regexp.MustCompile(`(?m)^  ([a-z]+) {2,}`).FindAllStringSubmatch(out.String(), -1) {
		if m[1] != "help" && m[1] != "assay" {
			got = append(got, m[1])
		}
	}
	slices.Sort(got)
	want := slices.DeleteFunc(slices.Clone(designed), func(c string) bool { return slices.Contains(toCome, c) })
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("commands of help (-designed +there):\n%s", diff)
	}
}
