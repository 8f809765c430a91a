package gateway_test

import (
	"strings"
	"testing"
)

// A server on the gateway's own machine is off unless its operator named it, and no address of it is told.
func TestServersOfTheGatewaysOwnMachineAreOffUnlessNamed(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{lacks: "VLLM_BASE_URL"})
	status, o := r.call(anna, "POST", "/chat/completions", strings.NewReader(`{"model":"vllm/x",`+question+`}`))
	if status != 400 || o.text("error", "code") != "provider_not_configured" || strings.Contains(o.text("error", "message"), "localhost") {
		t.Errorf("%d %v", status, o)
	}
}
