package script_test

import (
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestProgramsJudgeAnswersAndPairsAndWhatTheyLeaveOutIsFailed(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the programs are shell commands")
	}
	r := newRig(t)
	run := r.run(lanes + `  - {name: one, ask: q, prompt: "{{ text }}", lanes: [g, h]}
  - {name: scored, judge: one, rubric: {command: [sed, -n, 's/^{"id":"\([a-z2-7]*\)".*/{"id":"\1","label":"good"}/p'], labels: {good: 1, bad: 0}}}
  - {name: pairs, compare: one, pairs: all, rubric: {command: [sed, -n, 's/^{"id":"\([a-z2-7]*\)".*/{"id":"\1","label":"A"}/p']}}
  - {name: writing, compare: q, pairs: all, trait: [overall_quality], rubric: {command: [sed, -n, 's/^{"id":"\([a-z2-7]*\)".*/{"id":"\1","label":"B"}/p']}}
  - {name: silent, judge: one, rubric: {command: [sh, -c, cat >/dev/null], labels: [good]}}
  - {name: crashed, judge: one, rubric: {command: [sh, -c, exit 3], labels: [good]}}
`)
	want := map[string]int{"scored valid": 6, "pairs valid": 3, "writing valid": 3, "silent failed": 6, "crashed failed": 6}
	if d := cmp.Diff(want, r.verdicts(run)); d != "" {
		t.Errorf("verdicts (-want +got):\n%s", d)
	}
}
