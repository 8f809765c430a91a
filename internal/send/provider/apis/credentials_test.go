package apis

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"assay/internal/assay"
	"assay/internal/send/provider"
)

// TestMissingGoogleCredentialsNameTheCommandThatMakesThem: no call is made without them, and the lane tells what to type.
func TestMissingGoogleCredentialsNameTheCommandThatMakesThem(t *testing.T) {
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", t.TempDir()+"/none.json")
	err := googleAuth(provider.Config{})(t.Context(), http.Header{})
	fault, ok := errors.AsType[*assay.Fault](err)
	if !ok || fault.Class != assay.FaultDenied || !strings.Contains(fault.Message, "gcloud auth application-default login") {
		t.Errorf("%v", err)
	}
}
