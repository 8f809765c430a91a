package simulator

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestAddingRequestsGoesWrongLikeAnyOtherCall lets the calls fail that fill a batch at xAI: what was refused or never arrived is
// not in it, and what lost only its reply is.
func TestAddingRequestsGoesWrongLikeAnyOtherCall(t *testing.T) {
	t.Parallel()
	for rule, want := range map[string]struct {
		status int // 0: no answer
		there  float64
	}{
		"500": {500, 0}, "429": {429, 0}, "quota": {429, 0}, "drop": {0, 0}, "drop-reply": {0, 2}, "error-200": {200, 0},
		"fail-lines=100%": {200, 2},
	} {
		w := newWorld(t, Options{}, "xai add "+rule+" once")
		url := w.base["xai"] + "/batches"
		id := w.json("POST", url, `{"name":"r1"}`).str("batch_id")
		add := func(id string) string {
			return fmt.Sprintf(`{"batch_request_id":%q,"batch_request":{"chat_get_completion":{"model":"grok-4-1-fast","messages":[{"role":"user","content":"?"}]}}}`, id)
		}
		body := `{"batch_requests":[` + add("a") + "," + add("b") + `]}`
		got, err := w.try("POST", url+"/"+id+"/requests", strings.NewReader(body))
		if got.Status != want.status || (err != nil) != (want.status == 0) {
			t.Errorf("%s: status %d, want %d: %v", rule, got.Status, want.status, err)
		}
		w.clock.Advance(time.Hour)
		diff(t, want.there, w.json("GET", url+"/"+id, "").at("state.num_requests"))
		if rule == "fail-lines=100%" {
			diff(t, 2.0, w.json("GET", url+"/"+id, "").at("state.num_error"))
		}
	}
}
