package driving

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"assay/internal/show/cli/shell"
)

// A log for programs has one JSON object a line, with the level, the moment and the run; neither form has what is only of use in the code.
func TestALogIsTextOrJSON(t *testing.T) {
	t.Parallel()
	written := func(form string) string {
		var out bytes.Buffer
		log := listenFlags{log: form}.logger(&out)
		log.Debug("cut")
		log.Info("looked")
		log.Warn("the bucket cannot be reached", slog.String("run", "k3v7"), slog.Int("segment", 4))
		log.Error("gone", slog.String("run", "k3v7"))
		return out.String()
	}
	lines := strings.Split(strings.TrimSpace(written("json")), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d lines, want a warning and an error: %q", len(lines), lines)
	}
	for i, level := range []string{"WARN", "ERROR"} {
		var e struct {
			Time            time.Time
			Level, Msg, Run string
		}
		err := json.Unmarshal([]byte(lines[i]), &e)
		if err != nil || e.Level != level || e.Run != "k3v7" || e.Msg == "" || e.Time.IsZero() {
			t.Errorf("%v: %+v of %s", err, e, lines[i])
		}
	}
	text := written("text")
	if strings.Count(text, "\n") != 2 || !strings.Contains(text, `level=WARN msg="the bucket cannot be reached" run=k3v7 segment=4`) {
		t.Errorf("%s", text)
	}
	for form, fine := range map[string]bool{"text": true, "json": true, "xml": false, "": false} {
		if err := (&listenFlags{log: form}).check(&shell.World{}); (err == nil) != fine {
			t.Errorf("--log %q: %v", form, err)
		}
	}
}
