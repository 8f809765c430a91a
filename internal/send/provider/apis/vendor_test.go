package apis

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/keep/objects"
	"assay/internal/send/provider"
	"assay/internal/study/catalog"
)

const testKey = "key-never-to-be-shown-7f3a9c"

func diff(t *testing.T, want, got any, opts ...cmp.Option) {
	t.Helper()
	if d := cmp.Diff(want, got, opts...); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// network answers every call by a function.
type network func(*http.Request) *http.Response

func (n network) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body)
		r.Body.Close()
	}
	resp := n(r)
	resp.Request = r
	return resp, nil
}

func answer(status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, ContentLength: int64(len(body)),
		Body: io.NopCloser(strings.NewReader(body))}
}

// config opens any vendor on a network of our own.
func config(kind string, n network) provider.Config {
	c := provider.Config{
		Kind: kind, BaseURL: "https://api.example", Key: provider.NewSecret(testKey), HTTP: n,
		Account: "acct", Project: "proj", Location: "us-central1", Input: "gs://b/in", Output: "gs://b/out", Storage: "https://api.example",
	}
	if kind == "bedrock" {
		c.Input, c.Output, c.Role, c.Amazon = "s3://b/in", "s3://b/out", "arn:aws:iam::1:role/r",
			objects.FixedAccount("id", "secret-of-the-pair")
	}
	return c
}

func open(t testing.TB, kind string, n network) provider.Account {
	t.Helper()
	a, err := Open(config(kind, n))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAnUnknownVendorIsAnError(t *testing.T) {
	t.Parallel()
	_, err := Open(provider.Config{Kind: "nosuch"})
	if err == nil || !strings.Contains(err.Error(), `"nosuch"`) {
		t.Errorf("error %v", err)
	}
	if _, err := Open(provider.Config{Kind: "openai", BaseURL: "not a url"}); err == nil {
		t.Error("a bad base URL was taken")
	}
	if _, err := Open(provider.Config{Kind: "vertex", BaseURL: "https://x"}); err == nil {
		t.Error("Vertex was opened without a project")
	}
}

func TestStatesAreReadByTable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		read  func(string) provider.State
		words map[provider.State][]string
	}{
		{fileState, map[provider.State][]string{
			provider.StateQueued: {"validating", "VALIDATING"}, provider.StateRunning: {"in_progress", "IN_PROGRESS"},
			provider.StateEnding: {"finalizing", "cancelling"}, provider.StateEnded: {"completed", "COMPLETED"},
			provider.StateFailed: {"failed", "FAILED"}, provider.StateExpired: {"expired"}, provider.StateCancelled: {"cancelled"},
			provider.StateUnknown: {"", "ended", "done", "complete"},
		}},
		{messageState, map[provider.State][]string{
			provider.StateRunning: {"in_progress"}, provider.StateEnding: {"canceling"}, provider.StateEnded: {"ended"},
			provider.StateUnknown: {"", "completed", "ENDED"},
		}},
		{googleState, map[provider.State][]string{
			provider.StateQueued:  {"BATCH_STATE_PENDING", "JOB_STATE_PENDING", "JOB_STATE_QUEUED", "JOB_STATE_PAUSED"},
			provider.StateRunning: {"BATCH_STATE_RUNNING", "JOB_STATE_UPDATING"}, provider.StateEnding: {"JOB_STATE_CANCELLING"},
			provider.StateEnded:  {"BATCH_STATE_SUCCEEDED", "JOB_STATE_PARTIALLY_SUCCEEDED"},
			provider.StateFailed: {"JOB_STATE_FAILED"}, provider.StateExpired: {"BATCH_STATE_EXPIRED"},
			provider.StateCancelled: {"BATCH_STATE_CANCELLED"},
			provider.StateUnknown:   {"", "BATCH_STATE_UNSPECIFIED", "SUCCEEDED", "JOB_STATE_"},
		}},
		{mistralState, map[provider.State][]string{
			provider.StateQueued: {"QUEUED"}, provider.StateRunning: {"RUNNING"}, provider.StateEnding: {"CANCELLATION_REQUESTED"},
			provider.StateEnded: {"SUCCESS"}, provider.StateFailed: {"FAILED"}, provider.StateExpired: {"TIMEOUT_EXCEEDED"},
			provider.StateCancelled: {"CANCELLED"}, provider.StateUnknown: {"", "COMPLETED"},
		}},
		{fireworksState, map[provider.State][]string{
			provider.StateQueued: {"JOB_STATE_VALIDATING", "JOB_STATE_RE_QUEUEING"}, provider.StateRunning: {"JOB_STATE_RUNNING"},
			provider.StateEnding: {"JOB_STATE_WRITING_RESULTS", "JOB_STATE_DELETING_CLEANING_UP"},
			provider.StateEnded:  {"JOB_STATE_COMPLETED"}, provider.StateFailed: {"JOB_STATE_FAILED"},
			provider.StateExpired: {"JOB_STATE_EXPIRED"}, provider.StateCancelled: {"JOB_STATE_CANCELLED"},
			provider.StateUnknown: {"", "JOB_STATE_UNSPECIFIED"},
		}},
	} {
		for want, words := range c.words {
			for _, word := range words {
				if got := c.read(word); got != want {
					t.Errorf("%q is read as %s, not %s", word, got, want)
				}
			}
		}
	}
}

func TestXAIHasNumbersInsteadOfAState(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]provider.State{
		`{"batch_id":"b","state":{}}`: provider.StateQueued,
		`{"batch_id":"b","state":{"num_requests":3,"num_pending":2,"num_success":1}}`:                                        provider.StateRunning,
		`{"batch_id":"b","state":{"num_requests":3,"num_pending":0,"num_success":2,"num_error":1}}`:                          provider.StateEnded,
		`{"batch_id":"b","state":{},"cancel_by_xai_message":"model not available in batches"}`:                               provider.StateFailed,
		`{"batch_id":"b","state":{"num_requests":3,"num_pending":2},"cancel_time":"2026-11-15T12:00:00Z"}`:                   provider.StateEnding,
		`{"batch_id":"b","state":{"num_requests":3,"num_success":1,"num_cancelled":2},"cancel_time":"2026-11-15T12:00:00Z"}`: provider.StateCancelled,
		`{"batch_id":"b","state":{"num_requests":3,"num_success":3,"num_cancelled":0},"cancel_time":"2026-11-15T12:00:00Z"}`: provider.StateEnded,
		`{"id":"b","state":{"num_requests":"3","num_pending":"0","num_success":"3"},"cancel_by_xai_message":null}`:           provider.StateEnded,
	} {
		var b xaiBatch
		if err := json.Unmarshal([]byte(body), &b); err != nil {
			t.Fatal(err)
		}
		st := b.status()
		if st.State != want || st.Job != "b" || (st.State == provider.StateFailed) != (st.Fault != nil) {
			t.Errorf("%s: %+v", body, st)
		}
	}
}

func TestProblemsOfAFailedBatchAreClassified(t *testing.T) {
	t.Parallel()
	const body = `{"id":"b","status":"failed","errors":{"object":"list","data":[
		{"code":"token_limit_exceeded","message":"Enqueued token limit reached","param":null,"line":null},
		{"code":"invalid_json_line","message":"bad \u001b[31mline","param":"body","line":7},
		{"code":"too_many_tasks","message":"m","line":null},
		{"code":null,"message":null}]},"output_file_id":"","error_file_id":null,"request_counts":{"total":0}}`
	var b openAIBatch
	if err := json.Unmarshal([]byte(body), &b); err != nil {
		t.Fatal(err)
	}
	st := b.status()
	diff(t, []provider.LineProblem{
		{Fault: assay.Fault{Class: assay.FaultBusy, Code: "token_limit_exceeded", Message: "Enqueued token limit reached", Limit: -1}},
		{Line: 7, Fault: assay.Fault{Class: assay.FaultInvalid, Code: "invalid_json_line", Message: `bad \u001b[31mline`, Param: "body"}},
		{Fault: assay.Fault{Class: assay.FaultLarge, Code: "too_many_tasks", Message: "m"}},
		{Fault: assay.Fault{Class: assay.FaultInvalid}},
	}, st.Problems)
	diff(t, assay.FaultBusy, st.Fault.Class)
	diff(t, []provider.Part(nil), st.Parts)
	diff(t, provider.Counts{}, st.Counts)
	var bare openAIBatch
	if err := json.Unmarshal([]byte(`{"id":"b","status":"failed","errors":[{"code":"x"}]}`), &bare); err != nil || len(bare.Errors) != 1 {
		t.Errorf("a bare list of errors: %v, %v", bare.Errors, err)
	}
}

func TestBaseURLsAreCompleted(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"https://r.openai.azure.com":           "https://r.openai.azure.com/openai/v1",
		"https://r.openai.azure.com/":          "https://r.openai.azure.com/openai/v1",
		"https://r.openai.azure.com/openai/v1": "https://r.openai.azure.com/openai/v1", "https://proxy/x": "https://proxy/x",
	} {
		diff(t, want, azureURL(given))
	}
	for given, want := range map[string]string{
		"http://localhost:11434": "http://localhost:11434", "127.0.0.1": "http://127.0.0.1:11434", "0.0.0.0": "http://127.0.0.1:11434",
		"box:8080": "http://box:8080", ":8080": "http://127.0.0.1:8080", "0.0.0.0:99": "http://127.0.0.1:99",
		"https://box/x": "https://box/x",
	} {
		diff(t, want, ollamaURL(given))
	}
	for location, want := range map[string]string{
		"us-central1": "https://us-central1-aiplatform.googleapis.com", "global": "https://aiplatform.googleapis.com",
		"eu": "https://aiplatform.eu.rep.googleapis.com",
	} {
		diff(t, want, vertexURL("", location))
		diff(t, want, vertexURL("https://{location}-aiplatform.googleapis.com", location))
	}
	diff(t, "http://127.0.0.1:1", vertexURL("http://127.0.0.1:1", "eu"))
	var path string
	a := open(t, "groq", func(r *http.Request) *http.Response { path = r.URL.Path; return answer(500, "") })
	_, _ = a.Batch.Check(context.Background(), provider.Job{ID: "b"})
	diff(t, "/openai/v1/batches/b", path)
}

func TestSmallThingsAreReadRight(t *testing.T) {
	t.Parallel()
	for want, l := range map[string]catalog.Limits{"24h": {}, "7d": {Window: 168 * time.Hour}, "12h": {Window: 12 * time.Hour},
		"2d": {Window: 48 * time.Hour}, "48h": {Window: 48 * time.Hour, Hours: true}} {
		diff(t, want, window(l))
	}
	diff(t, "/v1beta/batches/a%2Fb:cancel", provider.Path("v1beta", "batches", "a/b")+":cancel")
	diff(t, "/v1/projects/p/jobs/7", resource("v1", "projects/p/jobs/7"))
	for _, uri := range []string{"", "gs://", "gs://bucket", "s3://b/x", "bucket/x"} {
		if _, _, err := parseGS(uri); err == nil {
			t.Errorf("%q was taken", uri)
		}
	}
	var l modelList
	for _, body := range []string{`{"data":[{"id":"a"}]}`, `[{"id":"a"}]`, `{"models":[{"name":"models/a"}]}`} {
		l = modelList{}
		if err := json.Unmarshal([]byte(body), &l); err != nil || !l.Valid() {
			t.Errorf("%s: %v", body, err)
		}
		diff(t, []string{"a"}, l.names)
	}
}

func TestOnlyWholeResultFilesOfVertexAreTaken(t *testing.T) {
	t.Parallel()
	dir := "gs://b/out/assay-r-s-0/prediction-model-1/"
	got := predictions([]object{
		{dir + "incremental_predictions.jsonl", 10}, {dir + "predictions.jsonl-00000-of-00002", 11},
		{dir + "predictions.jsonl-00001-of-00002", 12}, {dir + "predictions.jsonl.metadata", 5}, {dir + "row_count.json", 5},
		{dir + "predictions.jsonl", 0}, {dir + "x-predictions.jsonl", 9},
	})
	diff(t, []provider.Part{
		{Name: "predictions.jsonl-00000-of-00002", Kind: provider.PartResults, Ref: dir + "predictions.jsonl-00000-of-00002", Size: 11},
		{Name: "predictions.jsonl-00001-of-00002", Kind: provider.PartResults, Ref: dir + "predictions.jsonl-00001-of-00002", Size: 12},
	}, got)
	twice := predictions([]object{{dir + "predictions.jsonl", 1}, {strings.Replace(dir, "-1/", "-2/", 1) + "predictions.jsonl", 2}})
	diff(t, []string{"predictions.jsonl", "predictions.jsonl-1"}, []string{twice[0].Name, twice[1].Name})
}

func TestASignedPlaceGetsTheBytesWithoutTheKey(t *testing.T) {
	t.Parallel()
	var seen []string
	note := func(r *http.Request) {
		seen = append(seen, fmt.Sprintf("%s %s key:%v", r.Method, r.URL.Host, strings.Contains(fmt.Sprint(r.Header), testKey)))
	}
	a := open(t, "together", func(r *http.Request) *http.Response {
		note(r)
		if r.URL.Host != "api.example" {
			return answer(200, "")
		}
		resp := answer(302, "")
		resp.Header.Set("Location", "https://storage.example/put?sig=1")
		resp.Header.Set("X-Together-File-Id", "file-1")
		return resp
	})
	body := provider.Source{Size: 2, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("{}")), nil }}
	_, ready, err := a.Batch.Prepare(context.Background(), provider.BatchInput{Body: body}, "")
	if err != nil || ready != provider.Again {
		t.Fatal(ready, err)
	}
	b := open(t, "fireworks", func(r *http.Request) *http.Response {
		note(r)
		if r.URL.Host != "api.example" {
			return answer(200, "{\"custom_id\":\"a\"}\n")
		}
		return answer(200, `{"filenameToSignedUrls":{"dataset/x/BIJOutputSet.jsonl":"https://storage.example/get?sig=1"}}`)
	})
	part := provider.Part{Name: "BIJOutputSet.jsonl", Ref: "x dataset/x/BIJOutputSet.jsonl"}
	if err := b.Batch.Fetch(context.Background(), provider.Job{ID: "j"}, part, provider.Fresh(io.Discard)); err != nil {
		t.Fatal(err)
	}
	diff(t, []string{
		"POST api.example key:true", "PUT storage.example key:false", "GET api.example key:true", "GET storage.example key:false",
	}, seen)
}

func TestAnthropicsGenerationsTakeTheKeyInTheirOwnWay(t *testing.T) {
	t.Parallel()
	for version, want := range map[string][]string{
		"": {"2023-06-01", testKey, ""}, "2023-06-01": {"2023-06-01", testKey, ""}, "2026-10-21": {"2026-10-21", "", "Bearer " + testKey},
	} {
		var got []string
		cfg := config("anthropic", func(r *http.Request) *http.Response {
			got = []string{r.Header.Get("anthropic-version"), r.Header.Get("X-Api-Key"), r.Header.Get("Authorization")}
			return answer(404, "")
		})
		cfg.Version = version
		a, err := Open(cfg)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = a.Batch.Check(context.Background(), provider.Job{ID: "b"})
		diff(t, want, got)
	}
}

func TestBatchesThatLackConfigurationSayWhat(t *testing.T) {
	t.Parallel()
	fire, vert := config("fireworks", nil), config("vertex", nil)
	fire.Account, vert.Input = "", ""
	for _, cfg := range []provider.Config{fire, vert} {
		a, err := Open(cfg)
		if err != nil || a.Live == nil {
			t.Fatalf("%s: %v", cfg.Kind, err)
		}
		_, _, err = a.Batch.Prepare(context.Background(), provider.BatchInput{}, "")
		r := a.Batch.Launch(context.Background(), provider.BatchInput{}, "")
		for _, e := range []error{err, r.Err} {
			if f := provider.FaultOf(e); f == nil || f.Code != "not_configured" {
				t.Errorf("%s: %v", cfg.Kind, e)
			}
		}
		diff(t, provider.Refused, r.Status)
	}
}

func TestGoogleWithoutCredentialsIsDeniedBeforeAnythingGoesOut(t *testing.T) {
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", "/nowhere/at/all.json")
	cfg := config("vertex", func(*http.Request) *http.Response { t.Error("a call went out"); return answer(500, "") })
	cfg.Key = provider.Secret{}
	a, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.Batch.Check(context.Background(), provider.Job{ID: "projects/p/x/1"})
	if f := provider.FaultOf(err); f == nil || f.Class != assay.FaultDenied {
		t.Errorf("error %v", err)
	}
	r := a.Batch.Launch(context.Background(), provider.BatchInput{}, provider.NewHandle(bucketHandle{URI: "gs://b/x", Ready: true}))
	diff(t, provider.Refused, r.Status)
}

func TestResultsSayWhoseJobItIs(t *testing.T) {
	t.Parallel()
	key := assay.Coordinates{Item: "i"}.Key()
	mine, other := assay.NonceFrom([7]byte{1}), assay.NonceFrom([7]byte{2})
	lines := func(ids ...string) func(func(provider.Line, error) bool) {
		return func(yield func(provider.Line, error) bool) {
			for _, id := range ids {
				if !yield(provider.Line{CustomID: id}, nil) {
					return
				}
			}
		}
	}
	for name, c := range map[string]struct {
		ids  []string
		want bool
	}{
		"ours":                {[]string{assay.CustomID(mine, key)}, true},
		"another segment's":   {[]string{assay.CustomID(other, key), assay.CustomID(mine, key)}, false},
		"behind broken lines": {[]string{"", "x", assay.CustomID(mine, key)}, true},
		"somebody else's":     {[]string{"request-1", "request-2"}, false},
		"long":                {append(make([]string, 50), assay.CustomID(mine, key)), false},
	} {
		got, err := ours(provider.Search{Nonce: mine}, lines(c.ids...))
		if err != nil || got != c.want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if _, err := ours(provider.Search{Nonce: mine}, lines()); provider.FaultOf(err) == nil {
		t.Errorf("no results at all: %v", err)
	}
}

func TestPagesThatGoRoundInACircleAreStopped(t *testing.T) {
	t.Parallel()
	reads := 0
	list := pages(func(string) (page, error) {
		if reads++; reads > 10 {
			return page{}, errors.New("would never end")
		}
		return page{jobs: []provider.Status{{Job: "a"}}, next: []string{"even", "odd"}[reads%2]}, nil
	})
	var last error
	for _, err := range list {
		last = err
	}
	if f := provider.FaultOf(last); f == nil || reads != 3 {
		t.Errorf("%d reads, %v", reads, last)
	}
}

// noBytes returns an empty body.
func noBytes() provider.Source {
	return provider.Source{Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("")), nil }}
}

func TestAFileWithoutAnAnnouncedLengthIsHeldAgainstItsObject(t *testing.T) {
	t.Parallel()
	line := "{\"custom_id\":\"a\"}\n"
	for object, want := range map[string]string{
		fmt.Sprintf(`{"id":"f","bytes":%d}`, len(line)): "", `{"id":"f","bytes":99}`: "truncated", `{"id":"f"}`: "",
	} {
		a := open(t, "openai", func(r *http.Request) *http.Response {
			if strings.HasSuffix(r.URL.Path, "/content") {
				resp := answer(200, line)
				resp.ContentLength = -1
				return resp
			}
			return answer(200, object)
		})
		err := a.Batch.Fetch(context.Background(), provider.Job{}, provider.Part{Name: "results", Ref: "f"}, provider.Fresh(io.Discard))
		got := ""
		if f := provider.FaultOf(err); f != nil {
			got = f.Code
		}
		diff(t, want, got)
	}
}

func TestAFileThatIsNotReadyIsAskedAfter(t *testing.T) {
	t.Parallel()
	for object, want := range map[string]string{
		`{"id":"f","status":"pending"}`: `{"file":"f"} later`, `{"id":"f","status":"processed"}`: `{"file":"f","ready":true} ready`,
		`{"id":"f"}`: `{"file":"f","ready":true} ready`, `{"id":"f","status":"error","status_details":"bad"}`: `{} `, `{}`: `{"file":"f"} `,
	} {
		a := open(t, "azure", func(*http.Request) *http.Response { return answer(200, object) })
		h, ready, err := a.Batch.Prepare(context.Background(), inputOf("x"), `{"file":"f"}`)
		diff(t, want, string(h)+" "+string(ready))
		diff(t, strings.HasSuffix(want, " "), err != nil)
	}
}

func TestAFilterThatTheServerIgnoresIsNoHarm(t *testing.T) {
	t.Parallel()
	s := provider.Search{Stamp: provider.Stamp{Run: "r", Segment: "s", SHA256: strings.Repeat("0", 64)}}
	a := open(t, "vertex", func(*http.Request) *http.Response {
		return answer(200,
			`{"batchPredictionJobs":[{"name":"projects/p/jobs/1","displayName":"other"},{"name":"projects/p/jobs/2","displayName":"`+
				s.Stamp.Name()+`"}]}`)
	})
	got, err := a.Batch.(provider.Finder).Find(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	diff(t, provider.Found{Sighting: provider.Located, Jobs: []string{"projects/p/jobs/2"}}, got)
}
