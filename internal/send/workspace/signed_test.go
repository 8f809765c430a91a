package workspace

import (
	"strings"
	"testing"

	"assay/internal/assay"
	"assay/internal/study"
	"assay/internal/study/decode"
)

// TestKeysOfAWSSignNothingForAnAddressOfTheStudy asks live with AWS keys and settings of the environment: at the address that
// the environment names, and at one that a study does.
func TestKeysOfAWSSignNothingForAnAddressOfTheStudy(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	delete(r.env, "AWS_BEARER_TOKEN_BEDROCK")
	r.env["AWS_ACCESS_KEY_ID"], r.env["AWS_SECRET_ACCESS_KEY"], r.env["AWS_REGION"] = "id-of-a-pair", "id-of-a-pair", "eu-west-1"
	for address, want := range map[string]string{"": "", "https://thief.example": "there are no AWS keys"} {
		s := &study.Study{Providers: decode.Ordered[study.Provider]{{Name: "bedrock", Value: study.Provider{BaseURL: address}}}}
		access, err := r.world.Accounts(s).Access("bedrock")
		if err != nil {
			t.Fatal(err)
		}
		wire := assay.Wire{Dialect: assay.DialectConverse}
		reply, err := access.Live.Ask(t.Context(), &assay.Request{
			Wire: &wire, Lane: &assay.Lane{Model: "amazon.nova-lite-v1:0"},
			Prompt: &assay.Prompt{Messages: []assay.Message{{Role: assay.RoleUser, Text: "Q"}}},
		})
		if want == "" && (err != nil || reply.Outcome.Text == "") || want != "" && (!reply.Unsent || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %+v, %v", address, reply, err)
		}
	}
}

func TestAnAccountOfSignedCallsIsKnownByItsRegionNotItsKeys(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	seen := map[string]bool{}
	for _, env := range []map[string]string{
		{"AWS_REGION": "eu-west-1", "AWS_BEARER_TOKEN_BEDROCK": "today"},
		{"AWS_REGION": "eu-west-1", "AWS_BEARER_TOKEN_BEDROCK": "tomorrow"},
		{"AWS_REGION": "us-east-1", "AWS_BEARER_TOKEN_BEDROCK": "today"},
	} {
		for name, value := range env {
			r.env[name] = value
		}
		access, err := r.world.Accounts(&study.Study{}).Access("bedrock")
		if err != nil {
			t.Fatal(err)
		}
		seen[access.Fingerprint] = true
	}
	if len(seen) != 2 {
		t.Errorf("%d accounts in two regions", len(seen))
	}
}
