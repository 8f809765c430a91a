package simulator

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"assay/internal/keep/objects"
)

// signed makes a call with a signature of a key whose secret is its id.
func (w *world) signed(service, method, url, body string) got {
	w.t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	if err := objects.FixedAccount("key", "key").Sign(w.t.Context(), req,
		objects.Call{Service: service, Region: "eu-west-1", Body: sha256.Sum256([]byte(body)), Time: w.clock.Now()}); err != nil {
		w.t.Fatal(err)
	}
	res, err := w.http.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return got{Status: res.StatusCode, Header: res.Header, Body: b, Err: err}
}

func records(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"recordId":"id-%d","modelInput":{"messages":[{"role":"user","content":[{"text":"Question %d?"}]}]}}`+"\n", i, i)
	}
	return b.String()
}

func bedrockCreate(name, in, out string) string {
	return `{"jobName":"` + name + `","clientRequestToken":"` + name +
		`","roleArn":"arn:aws:iam::1:role/r","modelId":"amazon.nova-lite-v1:0","modelInvocationType":"Converse",` +
		`"inputDataConfig":{"s3InputDataConfig":{"s3Uri":"` + in + `"}},"outputDataConfig":{"s3OutputDataConfig":{"s3Uri":"` + out + `"}}}`
}

func jobURL(w *world, arn string) string {
	return w.base["bedrock"] + "/model-invocation-job/" + objects.Segment(arn)
}

func TestABedrockJobReadsAndWritesItsBuckets(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{Queue: time.Minute})
	wantStatus(t, w.signed("s3", "PUT", w.base["s3"]+"/b/in/x.jsonl", records(100)), 200)
	// a bucket that has no such object
	made := w.signed("bedrock", "POST", w.base["bedrock"]+"/model-invocation-job",
		bedrockCreate("n-1", "s3://bbb/in/x.jsonl", "s3://bbb/out/n-1/"))
	diff(t, 200, made.Status)
	wantStatus(t, w.signed("s3", "PUT", w.base["s3"]+"/bbb/in/x.jsonl", records(100)), 200)
	create := bedrockCreate("n-2", "s3://bbb/in/x.jsonl", "s3://bbb/out/n-2/")
	arn := w.signed("bedrock", "POST", w.base["bedrock"]+"/model-invocation-job", create).doc(t).str("jobArn")
	diff(t, arn, w.json("POST", w.base["bedrock"]+"/model-invocation-job", create).str("jobArn")) // the same token makes no second job
	diff(t, map[string]any{"status": "Validating", "totalRecordCount": 0.0},
		w.json("GET", jobURL(w, arn), "").pick("status", "totalRecordCount"))
	w.clock.Advance(time.Hour)
	diff(t, map[string]any{"status": "Completed", "totalRecordCount": 100.0, "successRecordCount": 100.0, "errorRecordCount": 0.0},
		w.json("GET", jobURL(w, arn), "").pick("status", "totalRecordCount", "successRecordCount", "errorRecordCount"))
	diff(t, "Failed", w.json("GET", jobURL(w, made.doc(t).str("jobArn")), "").str("status"))
	id := arn[strings.LastIndexByte(arn, '/')+1:]
	diff(t, 12, len(id))
	listed := string(w.signed("s3", "GET", w.base["s3"]+"/bbb/?list-type=2&prefix=out/n-2/", "").Body)
	for _, key := range []string{"<Key>out/n-2/" + id + "/x.jsonl.out</Key>", "<Key>out/n-2/" + id + "/manifest.json.out</Key>"} {
		if !strings.Contains(listed, key) {
			t.Errorf("no %s in %s", key, listed)
		}
	}
	results := lines(t, w.signed("s3", "GET", w.base["s3"]+"/bbb/out/n-2/"+id+"/x.jsonl.out", "").Body)
	diff(t, 100, len(results))
	if r := results[0]; r.str("modelOutput.output.message.content.0.text") == "" || r.at("modelInput.messages") == nil ||
		!strings.HasPrefix(r.str("recordId"), "id-") {
		t.Errorf("%v", r)
	}
	diff(t, 1, len(w.json("GET", w.base["bedrock"]+"/model-invocation-jobs?nameContains=n-2", "").at("invocationJobSummaries").([]any)))
	wantStatus(t, w.do("POST", jobURL(w, arn)+"/stop", strings.NewReader("")), 400)
}

func TestWhatBedrockRefusesAndWhen(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{})
	create := func(body string) got {
		return w.signed("bedrock", "POST", w.base["bedrock"]+"/model-invocation-job", body)
	}
	w.signed("s3", "PUT", w.base["s3"]+"/bbb/in/x.jsonl", records(99))
	few := create(bedrockCreate("few", "s3://bbb/in/x.jsonl", "s3://bbb/out/")).doc(t).str("jobArn")
	w.clock.Advance(time.Hour)
	diff(t, map[string]any{"status": "Failed", "message": "Your input file contains less records (99) than the required minimum of: 100",
		"totalRecordCount": 0.0}, w.json("GET", jobURL(w, few), "").pick("status", "message", "totalRecordCount"))
	for what, body := range map[string]string{
		"an underscore":       bedrockCreate("a_b", "s3://bbb/in/x.jsonl", "s3://bbb/out/"),
		"a Hive-style folder": bedrockCreate("a", "s3://bbb/in/x.jsonl", "s3://bbb/day=1/"),
		"no role":             strings.Replace(bedrockCreate("a", "s3://bbb/in/x.jsonl", "s3://bbb/out/"), "arn:aws:iam::1:role/r", "", 1),
	} {
		if g := create(body); g.Status != 400 || !strings.HasPrefix(g.Header.Get("X-Amzn-ErrorType"), "ValidationException") {
			t.Errorf("%s: %d %s", what, g.Status, g.Body)
		}
	}
	bare := few[strings.LastIndexByte(few, '/')+1:]
	diff(t, "The provided ARN is invalid.", w.do("GET", jobURL(w, bare), nil).doc(t).str("message"))
	wantStatus(t, w.do("GET", w.base["bedrock"]+"/model-invocation-job/"+few, nil), 404) // two segments
	wantStatus(t, w.do("GET", w.base["s3"]+"/bbb/in/x.jsonl", nil), 400)                 // a bearer
	wantStatus(t, w.signed("s3", "GET", jobURL(w, few), ""), 403)                        // signed for another service
	wantStatus(t, w.signed("s3", "GET", w.base["s3"]+"/bbb/none", ""), 404)
	wantStatus(t, w.as("bad-key").do("GET", jobURL(w, few), nil), 403)
}
