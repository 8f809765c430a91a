package worlds

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"time"

	"assay/internal/assay"
	"assay/internal/judge/program"
)

// Script returns the judging program as a file. It runs in the process of the world, which reads it for how strict it is.
func (s Study) Script() string { return fmt.Sprintf("# as strict as %d\n", s.Strict) }

// judges runs the judging program: it takes a while, says nothing about some answers, and nonsense about others.
func (p *proc) judges(ctx context.Context, s program.Start, slow time.Duration) error {
	script, err := os.ReadFile(filepath.Join(s.Folder, s.Command[1]))
	if err != nil {
		return err
	}
	step := func(name string) error { return p.do("program "+name, func() error { return nil }) }
	if err := step("starts"); err != nil {
		return err
	}
	select {
	case <-time.After(slow):
	case <-ctx.Done():
		return ctx.Err()
	}
	for line := range bytes.Lines(s.Input) {
		var in struct{ ID, Answer string }
		if err := json.Unmarshal(line, &in); err != nil {
			return err
		}
		state, label := scored(string(script), in.Answer)
		out := map[string]string{"id": in.ID}
		switch state {
		case assay.VerdictFailed:
			continue
		case assay.VerdictAbstained:
			out["abstain"] = "it may be so"
		default:
			out["label"] = label
		}
		text, err := json.Marshal(out)
		if err == nil {
			err = s.Line(text)
		}
		if err != nil {
			return err
		}
	}
	return step("ends")
}

// scored returns what the program says of an answer.
func scored(script, answer string) (assay.VerdictState, string) {
	h := fnv.New64a()
	fmt.Fprint(h, script, answer)
	switch n := h.Sum64() >> 7; n % 12 {
	case 0:
		return assay.VerdictFailed, ""
	case 1:
		return assay.VerdictAbstained, ""
	case 2:
		return assay.VerdictMalformed, "splendid"
	default:
		return assay.VerdictValid, []string{"good", "bad"}[n>>8%2]
	}
}
