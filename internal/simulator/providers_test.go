package simulator

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// bareLines are n lines of {"custom_id","body"}, and whatever else is given.
func bareLines(n int, more ...string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"custom_id":"id-%d","body":{"model":"m/large","messages":[{"role":"user","content":"Question %d?"}]}}`+"\n", i, i)
	}
	for _, m := range more {
		b.WriteString(m + "\n")
	}
	return b.String()
}

const noMessages = `{"custom_id":"void","body":{"model":"m/large","messages":[]}}`

func sortedIDs(ds []doc, field string) []string {
	ids := idsOf(ds, field)
	slices.Sort(ids)
	return ids
}

func TestAzureFilesArePendingFirstAndItsKeyHasAHeader(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{Queue: 8 * time.Second})
	w.head.Del("Authorization")
	w.head.Set("Api-Key", "key")
	f := w.upload(w.base["azure"]+"/files", "in.jsonl", chatLines(2), "purpose", "batch")
	diff(t, "pending", f.str("status"))
	create := `{"input_file_id":"` + f.str("id") + `","endpoint":"/v1/chat/completions","completion_window":"24h"}`
	wantStatus(t, w.do("POST", w.base["azure"]+"/batches", strings.NewReader(create)), 400)
	w.clock.Advance(2 * time.Second)
	diff(t, "processed", w.json("GET", w.base["azure"]+"/files/"+f.str("id"), "").str("status"))
	id := w.json("POST", w.base["azure"]+"/batches", create).str("id")
	w.clock.Advance(2 * aDay)
	diff(t, "completed", w.json("GET", w.base["azure"]+"/batches/"+id, "").str("status"))
}

func TestGroqTakesLongerWindowsAndListsWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{Rate: 0.001})
	base := w.base["groq"] + "/openai/v1"
	f := w.upload(base+"/files", "in.jsonl", chatLines(2), "purpose", "batch").str("id")
	for range 25 {
		w.json("POST", base+"/batches", `{"input_file_id":"`+f+`","endpoint":"/v1/chat/completions","completion_window":"7d"}`)
	}
	p := w.json("GET", base+"/batches?limit=3", "")
	diff(t, 25, len(p.at("data").([]any)))
	made, ends := p.at("data.0.created_at").(float64), p.at("data.0.expires_at").(float64)
	diff(t, (7 * aDay).Seconds(), ends-made)
}

func TestMistralJobsNameTheModelAndAreFoundByMetadata(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{Queue: 2 * time.Second, Rate: 2})
	url := w.base["mistral"] + "/v1"
	f := w.upload(url+"/files", "in.jsonl", bareLines(4, noMessages), "purpose", "batch").str("id")
	job := w.json("POST", url+"/batch/jobs",
		`{"input_files":["`+f+`"],"endpoint":"/v1/chat/completions","model":"mistral-small","metadata":{"run":"r1","shard":"2"}}`)
	w.json("POST", url+"/batch/jobs",
		`{"input_files":["`+f+`"],"endpoint":"/v1/chat/completions","model":"mistral-small","metadata":{"run":"r2"}}`)
	diff(t, map[string]any{"object": "batch", "status": "QUEUED", "output_file": nil, "total_requests": 5.0, "started_at": nil},
		job.pick("object", "status", "output_file", "total_requests", "started_at"))
	for _, q := range []string{`?metadata={"run":"r1"}`, "?metadata[run]=r1&metadata[shard]=2"} {
		list := w.json("GET", url+"/batch/jobs"+q, "")
		diff(t, map[string]any{"total": 1.0, "data.0.id": job.str("id")}, list.pick("total", "data.0.id"))
	}
	w.clock.Advance(3 * time.Second)
	diff(t, "RUNNING", w.json("GET", url+"/batch/jobs/"+job.str("id"), "").str("status"))
	w.clock.Advance(time.Minute)
	job = w.json("GET", url+"/batch/jobs/"+job.str("id")+"?inline=true", "")
	diff(t, map[string]any{"status": "SUCCESS", "succeeded_requests": 4.0, "failed_requests": 1.0, "completed_requests": 5.0},
		job.pick("status", "succeeded_requests", "failed_requests", "completed_requests"))
	diff(t, 5, len(job.at("outputs").([]any)))
	outs := lines(t, w.do("GET", url+"/files/"+job.str("output_file")+"/content", nil).Body)
	diff(t, []string{"id-0", "id-1", "id-2", "id-3"}, sortedIDs(outs, "custom_id"))
	diff(t, "mistral-small", outs[0].str("response.body.model"))
	errs := lines(t, w.do("GET", url+"/files/"+job.str("error_file")+"/content", nil).Body)
	diff(t, map[string]any{"custom_id": "void", "response.status_code": 400.0, "response.body.object": "error"},
		errs[0].pick("custom_id", "response.status_code", "response.body.object"))
}

func TestMistralTakesRequestsInTheCallAndTellsOfTimeouts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{Rate: 0.0001})
	url := w.base["mistral"] + "/v1/batch/jobs"
	in := `{"requests":[` + strings.Join(strings.Split(strings.TrimSpace(bareLines(3)), "\n"), ",") +
		`],"endpoint":"/v1/chat/completions","model":"mistral-small","timeout_hours":5}`
	id := w.json("POST", url, in).str("id")
	w.clock.Advance(6 * time.Hour)
	diff(t, map[string]any{"status": "TIMEOUT_EXCEEDED", "succeeded_requests": 1.0},
		w.json("GET", url+"/"+id, "").pick("status", "succeeded_requests"))
	g := w.do("POST", url, strings.NewReader(`{"requests":[],"endpoint":"/v1/dream","model":"m"}`))
	wantStatus(t, g, 422)
	diff(t, "endpoint", g.doc(t).str("detail.0.loc.1"))
}

func TestTogetherSendsUploadsElsewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{})
	url := w.base["together"]
	g := w.do("POST", url+"/files?file_name=r1-1.jsonl&file_type=jsonl&purpose=batch-api", nil, "Content-Type",
		"application/x-www-form-urlencoded")
	wantStatus(t, g, 302)
	id, to := g.Header.Get("X-Together-File-Id"), g.Header.Get("Location")
	content := bareLines(3, `{"custom_id":"`+strings.Repeat("x", 64)+`","body":{"model":"m/large","messages":[]}}`)
	wantStatus(t, w.do("PUT", to, strings.NewReader(content)), 400) // with a key
	wantStatus(t, w.do("PUT", strings.Split(to, "?")[0], strings.NewReader(content), "Authorization", ""), 403)
	diff(t, false, w.json("GET", url+"/files/"+id, "").at("Processed"))
	wantStatus(t, w.do("PUT", to, strings.NewReader(content), "Authorization", ""), 200)
	diff(t, map[string]any{"filename": "r1-1.jsonl", "Processed": true, "bytes": float64(len(content)), "purpose": "batch-api"},
		w.json("GET", url+"/files/"+id, "").pick("filename", "Processed", "bytes", "purpose"))

	made := w.json("POST", url+"/batches", `{"input_file_id":"`+id+`","endpoint":"/v1/chat/completions"}`)
	diff(t, "VALIDATING", made.str("job.status"))
	job := w.json("GET", url+"/batches/"+made.str("job.id"), "")
	diff(t, map[string]any{"status": "COMPLETED", "progress": 100.0, "model_id": "m/large", "input_file_id": id},
		job.pick("status", "progress", "model_id", "input_file_id"))
	var all []doc
	if err := json.Unmarshal(w.do("GET", url+"/batches", nil).Body, &all); err != nil {
		t.Fatal(err)
	}
	diff(t, []string{made.str("job.id")}, idsOf(all, "id"))
	outs := lines(t, w.do("GET", url+"/files/"+job.str("output_file_id")+"/content", nil).Body)
	diff(t, []string{"id-0", "id-1", "id-2"}, sortedIDs(outs, "custom_id"))
	errs := lines(t, w.do("GET", url+"/files/"+job.str("error_file_id")+"/content", nil).Body)
	diff(t, map[string]any{"error.code": "batch_client_error", "response": nil}, errs[0].pick("error.code", "response"))
	gone := w.json("POST", url+"/batches", `{"input_file_id":"file-none","endpoint":"/v1/chat/completions"}`)
	diff(t, "FAILED", w.json("GET", url+"/batches/"+gone.str("job.id"), "").str("status"))
	wantStatus(t, w.do("POST", url+"/batches/"+gone.str("job.id")+"/cancel", nil), 409)
	w.clock.Advance(8 * aDay)
	wantStatus(t, w.do("GET", url+"/files/"+job.str("output_file_id")+"/content", nil), 404)
}

func TestTogetherFailsOnAnIDThatIsTooLong(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{})
	url := w.base["together"]
	f := w.upload(url+"/files/upload", "in.jsonl", bareLines(1, `{"custom_id":"`+strings.Repeat("x", 65)+`","body":{}}`), "purpose",
		"batch-api")
	made := w.json("POST", url+"/batches", `{"input_file_id":"`+f.str("id")+`","endpoint":"/v1/chat/completions"}`)
	diff(t, "FAILED", w.json("GET", url+"/batches/"+made.str("job.id"), "").str("status"))
}

// gcsPut stores an object and returns its document.
func (w *world) gcsPut(bucket, name, content string) doc {
	w.t.Helper()
	return w.json("POST", w.base["gcs"]+"/upload/storage/v1/b/"+bucket+"/o?uploadType=media&name="+name+"&ifGenerationMatch=0", content)
}

func vertexLines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"request":{"contents":[{"role":"user","parts":[{"text":"Question %d?"}]}],"labels":{"id":"id-%d"}}}`+"\n", i, i)
	}
	return b.String() + `{"request":{"contents":[],"labels":{"id":"void"}}}` + "\n"
}

func (w *world) vertexJobs() string {
	return w.base["vertex"] + "/v1/projects/p/locations/us-central1/batchPredictionJobs"
}

func vertexCreate(name, in string) string {
	return `{"displayName":"` + name + `","model":"publishers/google/models/gemini-2.5-flash","labels":{"run":"` + name + `"},` +
		`"inputConfig":{"instancesFormat":"jsonl","gcsSource":{"uris":["gs://b/` + in +
		`"]}},"outputConfig":{"predictionsFormat":"jsonl","gcsDestination":{"outputUriPrefix":"gs://b/out"}}}`
}

func TestVertexReadsAndWritesBuckets(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{Rate: 1}, "vertex create shards=2 once")
	diff(t, "storage#object", w.gcsPut("b", "in/1.jsonl", vertexLines(5)).str("kind"))
	wantStatus(t, w.do("POST", w.base["gcs"]+"/upload/storage/v1/b/b/o?uploadType=media&name=in/1.jsonl&ifGenerationMatch=0",
		strings.NewReader("x")), 412)
	job := w.json("POST", w.vertexJobs(), vertexCreate("one", "in/1.jsonl"))
	other := w.json("POST", w.vertexJobs(), vertexCreate("two", "in/1.jsonl"))
	name := job.str("name")
	list := w.json("GET", w.vertexJobs()+"?filter="+"display_name%3D%22one%22+AND+labels.run%3Done", "")
	diff(t, []any{name, nil}, []any{list.at("batchPredictionJobs.0.name"), list.at("batchPredictionJobs.1")})

	names := func(prefix string) []string {
		var out []string
		items, _ := w.json("GET", w.base["gcs"]+"/storage/v1/b/b/o?prefix="+prefix, "").at("items").([]any)
		for _, i := range items {
			out = append(out, doc(i.(map[string]any)).str("name"))
		}
		return out
	}
	w.clock.Advance(2 * time.Second)
	diff(t, "JOB_STATE_RUNNING", w.json("GET", w.base["vertex"]+"/v1/"+name, "").str("state"))
	if part := names("out/"); len(part) != 2 || !strings.HasSuffix(part[0], "/incremental_predictions.jsonl") {
		t.Errorf("during the run there is %q", part)
	}
	w.clock.Advance(time.Minute)
	job = w.json("GET", w.base["vertex"]+"/v1/"+name, "")
	diff(t, map[string]any{
		"state": "JOB_STATE_SUCCEEDED", "completionStats": map[string]any{"successfulCount": "5", "failedCount": "1",
			"incompleteCount": "0"}, "labels": map[string]any{"run": "one"},
	}, job.pick("state", "completionStats", "labels"))
	dir := strings.TrimPrefix(job.str("outputInfo.gcsOutputDirectory"), "gs://b/")
	var files []string
	for _, n := range names(dir + "/") {
		files = append(files, strings.TrimPrefix(n, dir+"/"))
	}
	diff(t, []string{"incremental_predictions.jsonl", "predictions.jsonl-00000-of-00002", "predictions.jsonl-00001-of-00002",
		"row_count.json"}, files)
	if dir2 := w.json("GET", w.base["vertex"]+"/v1/"+other.str("name"),
		"").str("outputInfo.gcsOutputDirectory"); strings.HasSuffix(dir2, dir) {
		t.Error("two jobs write to one folder")
	}
	var outs []doc
	for _, f := range files[1:3] {
		outs = append(outs, lines(t,
			w.do("GET", w.base["gcs"]+"/storage/v1/b/b/o/"+strings.ReplaceAll(dir+"/"+f, "/", "%2F")+"?alt=media", nil).Body)...)
	}
	diff(t, []string{"id-0", "id-1", "id-2", "id-3", "id-4", "void"}, sortedIDs(outs, "request.labels.id"))
	for _, o := range outs {
		if o.str("request.labels.id") == "void" {
			if !strings.Contains(o.str("status"), "INVALID_ARGUMENT") {
				t.Errorf("status %q", o.str("status"))
			}
		} else {
			diff(t, map[string]any{"status": "", "response.candidates.0.finishReason": "STOP"},
				o.pick("status", "response.candidates.0.finishReason"))
		}
	}
	wantStatus(t,
		w.do("GET", strings.ReplaceAll(w.vertexJobs(), "us-central1", "europe-west4")+"/"+name[strings.LastIndex(name, "/")+1:], nil), 404)
}

func TestTheNonceInALabelDoesNotChangeWhatVertexAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{})
	var texts []string
	for i, nonce := range []string{"aaaaaaaaaa", "bbbbbbbbbb"} {
		in := fmt.Sprintf("in/%d", i)
		w.gcsPut("b", in, `{"request":{"contents":[{"parts":[{"text":"x"}]}],"labels":{"other":"z","id":"a`+nonce+
			`-abcdefghijklmnopqrstuvwxya"}}}`+"\n")
		job := w.json("GET", w.base["vertex"]+"/v1/"+w.json("POST", w.vertexJobs(), vertexCreate("one", in)).str("name"), "")
		dir := strings.TrimPrefix(job.str("outputInfo.gcsOutputDirectory"), "gs://b/")
		outs := lines(t, w.do("GET",
			w.base["gcs"]+"/storage/v1/b/b/o/"+strings.ReplaceAll(dir, "/", "%2F")+"%2Fpredictions.jsonl?alt=media", nil).Body)
		texts = append(texts, outs[0].str("response.candidates.0.content.parts.0.text"))
		diff(t, []string{"a" + nonce + "-abcdefghijklmnopqrstuvwxya"}, w.s.Ledger().Jobs[i].Billed)
	}
	diff(t, texts[0], texts[1])
}

func TestVertexFailsLateWhenItsInputIsMissing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{Queue: time.Minute})
	job := w.json("POST", w.vertexJobs(), vertexCreate("one", "nowhere.jsonl"))
	diff(t, "JOB_STATE_QUEUED", job.str("state"))
	w.clock.Advance(time.Minute)
	diff(t, map[string]any{"state": "JOB_STATE_FAILED", "error.code": 5.0},
		w.json("GET", w.base["vertex"]+"/v1/"+job.str("name"), "").pick("state", "error.code"))
}

func TestCloudStorageTakesUploadsInChunksAndGivesRanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{})
	content := bytes.Repeat([]byte("0123456789abcde\n"), chunkUnit/16*3/2)
	start := w.do("POST", w.base["gcs"]+"/upload/storage/v1/b/b/o?uploadType=resumable&name=x/y.jsonl", strings.NewReader("{}"))
	to := start.Header.Get("Location")
	put := func(from, until int, total string) got {
		return w.do("PUT", to, bytes.NewReader(content[from:until]), "Content-Range", fmt.Sprintf("bytes %d-%d/%s", from, until-1, total),
			"Authorization", "")
	}
	total := strconv.Itoa(len(content))
	g := put(0, chunkUnit, total)
	wantStatus(t, g, 308)
	diff(t, fmt.Sprintf("bytes=0-%d", chunkUnit-1), g.Header.Get("Range"))
	wantStatus(t, put(0, chunkUnit, total), 308) // what is there already is not taken again
	q := w.do("PUT", to, nil, "Content-Range", "bytes */"+total, "Authorization", "")
	diff(t, fmt.Sprintf("bytes=0-%d", chunkUnit-1), q.Header.Get("Range"))
	last := put(chunkUnit, len(content), total)
	wantStatus(t, last, 200)
	diff(t, map[string]any{"name": "x/y.jsonl", "size": total}, last.doc(t).pick("name", "size"))
	url := w.base["gcs"] + "/storage/v1/b/b/o/x%2Fy.jsonl"
	diff(t, content, w.do("GET", url+"?alt=media", nil).Body)
	r := w.do("GET", url+"?alt=media", nil, "Range", "bytes=16-31")
	wantStatus(t, r, http.StatusPartialContent)
	diff(t, []string{"0123456789abcde\n", "bytes 16-31/" + total}, []string{string(r.Body), r.Header.Get("Content-Range")})
	wantStatus(t, w.do("DELETE", url, nil), 204)
	wantStatus(t, w.do("GET", url, nil), 404)
}

func TestXAIBatchesAreFilledBitByBitAndCountZeroAtFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{Rate: 1})
	url := w.base["xai"] + "/batches"
	b := w.json("POST", url, `{"name":"r1"}`)
	id := b.str("batch_id")
	zero := map[string]any{"num_requests": 0.0, "num_pending": 0.0, "num_success": 0.0, "num_error": 0.0, "num_cancelled": 0.0}
	diff(t, zero, b.at("state"))
	add := func(ids ...string) {
		var all []string
		for _, i := range ids {
			all = append(all, fmt.Sprintf(`{"batch_request_id":%q,"batch_request":{"chat_get_completion":{"model":"grok-4-1-fast","messages":[{"role":"user","content":"%s?"}]}}}`, i, i))
		}
		w.json("POST", url+"/"+id+"/requests", `{"batch_requests":[`+strings.Join(all, ",")+`]}`)
	}
	add("a", "b", "c")
	add("b", "c", "d") // b and c are there already
	diff(t, map[string]any{"state.num_requests": 4.0, "state.num_pending": 4.0},
		w.json("GET", url+"/"+id, "").pick("state.num_requests", "state.num_pending"))
	w.clock.Advance(time.Second)
	diff(t, 2, len(w.json("GET", url+"/"+id+"/results", "").at("results").([]any))) // one of each addition
	w.clock.Advance(time.Minute)
	diff(t, map[string]any{"state.num_success": 4.0, "state.num_pending": 0.0},
		w.json("GET", url+"/"+id, "").pick("state.num_success", "state.num_pending"))
	var seen []string
	token := ""
	for {
		p := w.json("GET", url+"/"+id+"/results?limit=3&pagination_token="+token, "")
		for _, r := range p.at("results").([]any) {
			d := doc(r.(map[string]any))
			seen = append(seen, d.str("batch_request_id"))
			u := "batch_result.response.chat_get_completion.usage."
			in, out, think, all := d.at(u+"prompt_tokens").(float64), d.at(u+"completion_tokens").(float64),
				d.at(u+"completion_tokens_details.reasoning_tokens").(float64), d.at(u+"total_tokens").(float64)
			diff(t, all, in+out+think)
		}
		if token = p.str("pagination_token"); token == "" {
			break
		}
	}
	slices.Sort(seen)
	diff(t, []string{"a", "b", "c", "d"}, seen)
	meta := w.json("GET", url+"/"+id+"/requests?limit=3", "")
	diff(t, map[string]any{"batch_request_metadata.0.batch_request_id": "a",
		"batch_request_metadata.0.state": "succeeded", "pagination_token": "3"},
		meta.pick("batch_request_metadata.0.batch_request_id", "batch_request_metadata.0.state", "pagination_token"))
	diff(t, []any{id}, []any{w.json("GET", url, "").at("batches.0.batch_id")})
}

func TestXAIFilesMakeSealedBatchesWhoseRejectionIsOnlyAMessage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{Queue: 4 * time.Second})
	up := func(content string) string {
		return w.upload(w.base["xai"]+"/files", "in.jsonl", content).str("id")
	}
	url := w.base["xai"] + "/batches"
	good := w.json("POST", url, `{"name":"g","input_file_id":"`+up(chatLines(3))+`"}`).str("batch_id")
	bad := w.json("POST", url, `{"name":"b","input_file_id":"`+up(chatLines(1, "nonsense"))+`"}`).str("batch_id")
	diff(t, 0.0, w.json("GET", url+"/"+good, "").at("state.num_requests"))
	wantStatus(t, w.do("POST", url+"/"+good+"/requests", strings.NewReader(`{"batch_requests":[]}`)), 412)
	w.clock.Advance(time.Hour)
	diff(t, 3.0, w.json("GET", url+"/"+good, "").at("state.num_success"))
	b := w.json("GET", url+"/"+bad, "")
	diff(t, 0.0, b.at("state.num_requests"))
	if b.str("cancel_by_xai_message") == "" {
		t.Error("nothing says that the batch was rejected")
	}
	w2 := newWorld(t, Options{Rate: 1})
	f := w2.upload(w2.base["xai"]+"/files", "in.jsonl", chatLines(5)).str("id")
	id := w2.json("POST", url, `{"name":"c","input_file_id":"`+f+`"}`).str("batch_id")
	w2.clock.Advance(2 * time.Second)
	w2.json("POST", url+"/"+id+":cancel", "")
	diff(t, map[string]any{"state.num_success": 2.0, "state.num_cancelled": 3.0},
		w2.json("GET", url+"/"+id, "").pick("state.num_success", "state.num_cancelled"))
}

func TestFireworksKeepsDatasetsAndTakesOurJobIDs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{})
	url := w.base["fireworks"] + "/v1/accounts/me"
	wantStatus(t, w.do("POST", url+"/datasets", strings.NewReader(`{"datasetId":"in-1","dataset":{"userUploaded":{},"exampleCount":3}}`)),
		400)
	d := w.json("POST", url+"/datasets", `{"datasetId":"in-1","dataset":{"userUploaded":{},"exampleCount":"3"}}`)
	diff(t, map[string]any{"name": "accounts/me/datasets/in-1", "state": "UPLOADING"}, d.pick("name", "state"))
	w.upload(url+"/datasets/in-1:upload", "in.jsonl", bareLines(3))
	diff(t, "READY", w.json("GET", url+"/datasets/in-1", "").str("state"))
	create :=
		`{"model":"accounts/fireworks/models/m","inputDatasetId":"accounts/me/datasets/in-1","outputDatasetId":"out-1","displayName":"r1"}`
	job := w.json("POST", url+"/batchInferenceJobs?batchInferenceJobId=job-1", create)
	diff(t, map[string]any{"name": "accounts/me/batchInferenceJobs/job-1", "state": "JOB_STATE_VALIDATING", "jobProgress": nil},
		job.pick("name", "state", "jobProgress"))
	wantStatus(t, w.do("POST", url+"/batchInferenceJobs?batchInferenceJobId=job-1", strings.NewReader(create)), 409)
	diff(t, map[string]any{"state": "JOB_STATE_COMPLETED", "jobProgress.percent": 100.0, "jobProgress.outputRows": 3.0},
		w.json("GET", url+"/batchInferenceJobs/job-1", "").pick("state", "jobProgress.percent", "jobProgress.outputRows"))
	wantStatus(t, w.do("GET", url+"/datasets/out-1:getDownloadEndpoint", strings.NewReader("{}")), 400)
	to := w.json("GET", url+"/datasets/out-1:getDownloadEndpoint", "").at("filenameToSignedUrls").(map[string]any)
	signed := to["dataset/out-1/BIJOutputSet.jsonl"].(string)
	g := w.do("GET", signed, nil, "Authorization", "")
	outs := lines(t, g.Body)
	diff(t, []string{"id-0", "id-1", "id-2"}, sortedIDs(outs, "custom_id"))
	diff(t, "chat.completion", outs[0].str("response.object"))
	part := w.do("GET", signed, nil, "Range", "bytes=10-", "Authorization", "")
	diff(t, g.Body[10:], part.Body)
	w.clock.Advance(11 * time.Minute)
	wantStatus(t, w.do("GET", signed, nil, "Authorization", ""), 403)
	wantStatus(t, w.as("bad").do("GET", url+"/batchInferenceJobs/job-1", nil), 403)
	w.json("DELETE", url+"/batchInferenceJobs/job-1", "")
	wantStatus(t, w.do("GET", url+"/batchInferenceJobs/job-1", nil), 404)
}

func TestFireworksUploadsToASignedAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{})
	url := w.base["fireworks"] + "/v1/accounts/me/datasets"
	w.json("POST", url, `{"datasetId":"big","dataset":{"userUploaded":{},"exampleCount":"1"}}`)
	to := w.json("POST", url+"/big:getUploadEndpoint", `{"filenameToSize":{"data.jsonl":"12"}}`).at("filenameToSignedUrls").(map[string]any)
	wantStatus(t, w.do("PUT", to["data.jsonl"].(string), strings.NewReader(bareLines(1)), "Authorization", ""), 200)
	diff(t, "UPLOADING", w.json("GET", url+"/big", "").str("state"))
	w.json("POST", url+"/big:validateUpload", "{}")
	diff(t, "READY", w.json("GET", url+"/big", "").str("state"))
}

func TestOneBadRequestFailsTheWholeJobAtFireworksAndOpenRouter(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{})
	fw := w.base["fireworks"] + "/v1/accounts/me"
	w.json("POST", fw+"/datasets", `{"datasetId":"in","dataset":{"userUploaded":{},"exampleCount":"4"}}`)
	w.upload(fw+"/datasets/in:upload", "in.jsonl", bareLines(3, noMessages))
	w.json("POST", fw+"/batchInferenceJobs?batchInferenceJobId=j", `{"model":"m","inputDatasetId":"in"}`)
	diff(t, map[string]any{"state": "JOB_STATE_FAILED", "status.code": "INVALID_ARGUMENT"},
		w.json("GET", fw+"/batchInferenceJobs/j", "").pick("state", "status.code"))
	or := w.base["openrouter"] + "/batches"
	id := w.json("POST", or, openRouterDoc(bareLines(3, noMessages))).str("id")
	diff(t, map[string]any{"status": "failed", "error.code": "missing_required_parameter", "results": nil},
		w.json("GET", or+"/"+id, "").pick("status", "error.code", "results"))
	for _, j := range w.s.Ledger().Jobs {
		diff(t, []string{}, j.Billed)
	}
}

func openRouterDoc(content string) string {
	return `{"endpoint":"/v1/chat/completions","model":"m/large","completion_window":"24h","requests":[` +
		strings.Join(strings.Split(strings.TrimSpace(content), "\n"), ",") + `]}`
}

func TestOpenRouterReadsItsDocumentInOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{Rate: 1})
	url := w.base["openrouter"] + "/batches"
	ends := `"model":"m/large","completion_window":"24h"`
	late := strings.TrimSuffix(strings.Replace(openRouterDoc(bareLines(3)), ends+",", "", 1), "}") + "," + ends + "}"
	g := w.do("POST", url, strings.NewReader(late))
	wantStatus(t, g, 400)
	diff(t, map[string]any{"error.code": 400.0, "error.metadata.reason": "invalid_order"},
		g.doc(t).pick("error.code", "error.metadata.reason"))
	g = w.do("POST", url, strings.NewReader(openRouterDoc(bareLines(3))))
	wantStatus(t, g, 202)
	id := g.doc(t).str("id")
	w.clock.Advance(2 * time.Second)
	diff(t, map[string]any{"status": "in_progress", "results": nil, "request_counts.completed": 2.0},
		w.json("GET", url+"/"+id, "").pick("status", "results", "request_counts.completed"))
	wantStatus(t, w.do("DELETE", url+"/"+id, nil), 409)
	w.clock.Advance(time.Minute)
	b := w.json("GET", url+"/"+id, "")
	diff(t, map[string]any{"status": "completed", "request_counts": map[string]any{"total": 3.0, "completed": 3.0, "failed": 0.0}},
		b.pick("status", "request_counts"))
	var outs []doc
	for _, r := range b.at("results").([]any) {
		outs = append(outs, doc(r.(map[string]any)))
	}
	diff(t, []string{"id-0", "id-1", "id-2"}, sortedIDs(outs, "custom_id"))
	diff(t, 200.0, outs[0].at("response.status_code"))
	cost := 0.0
	for _, o := range outs {
		cost += o.at("response.body.usage.cost").(float64)
	}
	if total := b.at("usage.cost").(float64); cost == 0 || math.Abs(total-cost) > 1e-9 {
		t.Errorf("the batch costs %g, its requests %g", total, cost)
	}
	for query, want := range map[string]int{
		"?status=completed": 1, "?status=failed&status=in_progress": 0, "?created_after=2026-11-15T11:59:00Z": 1,
		"?created_after=2026-11-15T12:00:00Z": 0,
	} {
		diff(t, want, len(w.json("GET", url+query, "").at("data").([]any)))
	}
	w.clock.Advance(31 * aDay)
	wantStatus(t, w.do("GET", url+"/"+id, nil), 410)
}
