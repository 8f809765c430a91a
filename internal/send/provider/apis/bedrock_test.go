package apis

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/keep/objects"
	"assay/internal/send/provider"
)

const bedrockARN = "arn:aws:bedrock:eu-west-1:1:model-invocation-job/abc123def456"

// bedrockOn opens Bedrock at its own hosts, on a network of our own.
func bedrockOn(t *testing.T, key string, n network) provider.Account {
	t.Helper()
	cfg := config("bedrock", n)
	cfg.BaseURL, cfg.Storage, cfg.Location, cfg.Key = "https://bedrock.{location}.amazonaws.com", "", "eu-west-1", provider.NewSecret(key)
	a, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAKeyOfBedrockOpensNoBucketAndAnARNIsOneSegment(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"", testKey} {
		var calls []string
		a := bedrockOn(t, key, func(r *http.Request) *http.Response {
			auth := r.Header.Get("Authorization")
			how := "nothing"
			switch {
			case auth == "Bearer "+testKey:
				how = "bearer"
			case strings.HasPrefix(auth, "AWS4-HMAC-SHA256 Credential=id/"):
				how = strings.Split(auth, "/")[3]
			}
			calls = append(calls, how+" "+r.Method+" "+r.URL.Host+r.URL.EscapedPath())
			switch {
			case strings.Contains(r.URL.Host, "s3"):
				return answer(200, `<ListBucketResult><Contents><Key>out/n/abc123def456/x.jsonl.out</Key><Size>7</Size></Contents><Contents><Key>out/n/abc123def456/manifest.json.out</Key><Size>7</Size></Contents></ListBucketResult>`)
			case strings.Contains(r.URL.Host, "runtime"):
				return answer(200, `{"output":{"message":{"content":[{"text":"Yes."}]}},"stopReason":"end_turn","usage":{"inputTokens":1,"outputTokens":1}}`)
			}
			return answer(200, `{"jobArn":"`+bedrockARN+`","status":"PartiallyCompleted","outputDataConfig":{"s3OutputDataConfig":{"s3Uri":"s3://b/out/n/"}},"totalRecordCount":10,"successRecordCount":4,"errorRecordCount":1}`)
		})
		st, err := a.Batch.Check(context.Background(), provider.Job{ID: bedrockARN})
		if err != nil {
			t.Fatal(err)
		}
		want := provider.Status{Job: bedrockARN, State: provider.StateExpired, Word: "PartiallyCompleted", Model: ".",
			Counts: provider.Counts{Known: true, Total: 10, Succeeded: 4, Failed: 1, Pending: 5}, Parts: []provider.Part{
				{Name: "x.jsonl.out", Kind: provider.PartResults, Ref: "s3://b/out/n/abc123def456/x.jsonl.out", Size: 7}}}
		if diff := cmp.Diff(want, st); diff != "" {
			t.Error(diff)
		}
		wire := assay.Wire{Dialect: assay.DialectConverse}
		req := &assay.Request{Wire: &wire, Lane: &assay.Lane{Model: "us.maker.m-v1:0"},
			Prompt: &assay.Prompt{Messages: []assay.Message{{Role: assay.RoleUser, Text: "Q"}}}}
		if r, err := a.Live.Ask(context.Background(), req); err != nil || r.Outcome.Text != "Yes." {
			t.Errorf("%+v %v", r, err)
		}
		how := "bearer"
		if key == "" {
			how = "bedrock"
		}
		if diff := cmp.Diff([]string{
			how + " GET bedrock.eu-west-1.amazonaws.com/model-invocation-job/" +
				"arn%3Aaws%3Abedrock%3Aeu-west-1%3A1%3Amodel-invocation-job%2Fabc123def456",
			"s3 GET b.s3.eu-west-1.amazonaws.com/",
			how + " POST bedrock-runtime.eu-west-1.amazonaws.com/model/us.maker.m-v1%3A0/converse",
		}, calls); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
}

func TestAConflictLeavesOpenWhetherThereIsAJob(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]provider.LaunchStatus{"ConflictException": provider.Unknown, "ValidationException": provider.Refused,
		"ThrottlingException": provider.Refused} {
		a := bedrockOn(t, "", func(*http.Request) *http.Response {
			resp := answer(400, `{"message":"no"}`)
			resp.Header.Set("X-Amzn-Errortype", kind)
			return resp
		})
		r := a.Batch.Launch(context.Background(), provider.BatchInput{}, `{"uri":"s3://b/in/x.jsonl"}`)
		if r.Status != want || !strings.Contains(r.Err.Error(), kind) {
			t.Errorf("%s: %s %v", kind, r.Status, r.Err)
		}
	}
}

// TestErrorsOfSignedCallsShowNothingThatWasSigned has the servers repeat what they were sent, as they do.
func TestErrorsOfSignedCallsShowNothingThatWasSigned(t *testing.T) {
	t.Parallel()
	const token = "session-token-never-to-be-shown"
	cfg := config("bedrock", func(r *http.Request) *http.Response {
		said := r.Header.Get("Authorization") + " " + r.Header.Get("X-Amz-Security-Token")
		if strings.HasPrefix(r.URL.Path, "/b/") {
			return answer(403, `<Error><Code>SignatureDoesNotMatch</Code><Message>no</Message><CanonicalRequest>`+said+
				`</CanonicalRequest></Error>`)
		}
		return answer(403, `{"__type":"InvalidSignatureException","message":"should have been `+said+`"}`)
	})
	cfg.Key = provider.Secret{}
	cfg.Amazon = objects.OpenAccount(func(name string) string {
		return map[string]string{"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret-of-the-pair", "AWS_SESSION_TOKEN": token}[name]
	})
	a, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	_, checked := a.Batch.Check(context.Background(), provider.Job{ID: bedrockARN})
	body := noBytes()
	body.SHA256 = strings.Repeat("0", 64)
	_, _, put := a.Batch.Prepare(context.Background(), provider.BatchInput{Body: body}, "")
	for _, err := range []error{checked, put} {
		f := provider.FaultOf(err)
		if f == nil || f.Class != assay.FaultDenied || strings.Contains(err.Error(), token) || strings.Contains(err.Error(), "Credential") {
			t.Errorf("%v", err)
		}
	}
}

func TestWithoutKeysACallIsNeverSent(t *testing.T) {
	t.Parallel()
	cfg := config("bedrock", func(r *http.Request) *http.Response { t.Error("sent"); return answer(200, "{}") })
	cfg.Key, cfg.Amazon = provider.Secret{}, nil
	a, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	r := a.Batch.Launch(context.Background(), provider.BatchInput{}, `{"uri":"s3://b/in/x.jsonl"}`)
	if r.Status != provider.Refused || !strings.Contains(r.Err.Error(), "AWS_ACCESS_KEY_ID") {
		t.Errorf("%s %v", r.Status, r.Err)
	}
}

func TestFoldersOfBedrockHaveNoStrangeCharacters(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{"gs://b/in", "s3://", "s3://b/day=1/", "s3://b/a b", "s3://b/ü"} {
		cfg := config("bedrock", nil)
		cfg.Input = folder
		if _, err := Open(cfg); err == nil || !strings.Contains(err.Error(), "want s3://bucket/folder") {
			t.Errorf("%s: %v", folder, err)
		}
	}
}
