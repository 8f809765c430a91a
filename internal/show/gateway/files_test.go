package gateway_test

import (
	"bufio"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/internal/show/gateway"
)

func TestFilesBelongToTheirUsers(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	text := chat("a", "gpt-4o-mini", "")
	one, two, three := r.upload(anna, text), r.upload(anna, text+text), r.upload(anna, text)
	_, f := r.call(anna, "GET", "/files/"+two, nil)
	if f.text("bytes") != fmt.Sprint(2*len(text)) || f.text("filename") != "in.jsonl" || f.text("purpose") != "batch" ||
		f.text("status") != "processed" || f.text("object") != "file" {
		t.Errorf("the file: %v", f)
	}
	if _, got := r.raw(anna, "GET", "/files/"+two+"/content", nil); string(got) != text+text {
		t.Errorf("its content: %s", got)
	}
	page := func(path string) (ids []string, more any) {
		_, o := r.call(anna, "GET", path, nil)
		for _, f := range o["data"].([]any) {
			ids = append(ids, object(f.(map[string]any)).text("id"))
		}
		return ids, o["has_more"]
	}
	if ids, more := page("/files?limit=2"); more != true || !cmp.Equal(ids, []string{three, two}) {
		t.Errorf("the first page: %v %v", ids, more)
	}
	if ids, more := page("/files?limit=2&after=" + two); more != false || !cmp.Equal(ids, []string{one}) {
		t.Errorf("the second page: %v %v", ids, more)
	}
	for _, path := range []string{"/files/" + one, "/files/" + one + "/content", "/batches/batch_none"} {
		if status, e := r.call(bert, "GET", path, nil); status != 404 || e.text("error", "type") != "invalid_request_error" {
			t.Errorf("bert's look at %s: %d %v", path, status, e)
		}
	}
	if status, e := r.create(bert, one); status != 400 || e.text("error", "param") != "input_file_id" {
		t.Errorf("bert's batch of anna's file: %d %v", status, e)
	}
	if status, e := r.call("no such token at all", "GET", "/files", nil); status != 401 || e.text("error", "code") != "invalid_api_key" {
		t.Errorf("a stranger: %d %v", status, e)
	}
	if status, o := r.call(anna, "DELETE", "/files/"+one, nil); status != 200 || o.text("deleted") != "true" {
		t.Errorf("delete: %d %v", status, o)
	}
	if status, _ := r.call(anna, "GET", "/files/"+one, nil); status != 404 {
		t.Errorf("a deleted file: %d", status)
	}
	_, b := r.create(anna, three)
	if status, _ := r.call(bert, "GET", "/batches/"+b.text("id"), nil); status != 404 {
		t.Errorf("bert's look at anna's batch: %d", status)
	}
}

// shelved counts what is kept of uploads, whole or not.
func (r *rig) shelved() int {
	r.t.Helper()
	n := 0
	for _, err := range r.home.Files.List(r.t.Context(), "gateway", "") {
		if err != nil {
			r.t.Fatal(err)
		}
		n++
	}
	return n
}

func TestAFileThatIsTooLargeIsRefusedAndNotKept(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	body, in := io.Pipe()
	w := multipart.NewWriter(in)
	go func() {
		w.WriteField("purpose", "batch")
		part, _ := w.CreateFormFile("file", "in.jsonl")
		line := []byte(strings.Repeat(" ", 1<<20))
		for range 203 {
			if _, err := part.Write(line); err != nil {
				break // the server has read enough
			}
		}
		in.CloseWithError(io.EOF)
	}()
	status, e := r.call(anna, "POST", "/files", io.NopCloser(body), "Content-Type", w.FormDataContentType())
	if status != 413 || e.text("error", "type") != "invalid_request_error" || e.text("error", "param") != "file" {
		t.Errorf("%d %v", status, e)
	}
	if n := r.shelved(); n != 0 {
		t.Errorf("%d files are kept", n)
	}
}

func TestFormsThatAreNoFilesAreRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	form := func(fields ...string) (int, object) {
		var b strings.Builder
		w := multipart.NewWriter(&b)
		for i := 0; i < len(fields); i += 2 {
			if fields[i] == "file" {
				part, _ := w.CreateFormFile("file", "x")
				io.WriteString(part, fields[i+1])
			} else {
				w.WriteField(fields[i], fields[i+1])
			}
		}
		w.Close()
		return r.call(anna, "POST", "/files", strings.NewReader(b.String()), "Content-Type", w.FormDataContentType())
	}
	for name, c := range map[string]struct {
		param  string
		fields []string
	}{
		"no file":         {"file", []string{"purpose", "batch"}},
		"no purpose":      {"purpose", []string{"file", "{}"}},
		"another purpose": {"purpose", []string{"file", "{}", "purpose", "fine-tune"}},
		"an empty file":   {"file", []string{"file", "", "purpose", "batch"}},
	} {
		if status, e := form(c.fields...); status != 400 || e.text("error", "param") != c.param {
			t.Errorf("%s: %d %v", name, status, e)
		}
	}
	if n := r.shelved(); n != 0 {
		t.Errorf("%d files are kept", n)
	}
}

func TestClientsThatStopSendingAreHungUpOn(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{stall: 200 * time.Millisecond})
	conn, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(r.url, "http://"), "/v1"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(3 * time.Minute))
	fmt.Fprintf(conn,
		"POST /v1/files HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: multipart/form-data; boundary=b\r\n"+
			"Content-Length: 1000\r\n\r\n--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f\"\r\n\r\nhalf a li", anna)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("no answer came: %v", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != 400 {
		t.Errorf("the answer is %s", resp.Status)
	}
	if n := r.shelved(); n != 0 {
		t.Errorf("%d files are kept", n)
	}
}

func TestAGatewayThatIsStoppedAnswersFirst(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	body, in := io.Pipe()
	w := multipart.NewWriter(in)
	answered := make(chan string, 1)
	go func() {
		req, _ := http.NewRequestWithContext(t.Context(), "POST", r.url+"/files", body)
		req.Header.Set("Authorization", "Bearer "+anna)
		req.Header.Set("Content-Type", w.FormDataContentType())
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			answered <- err.Error()
			return
		}
		resp.Body.Close()
		answered <- resp.Status
	}()
	w.WriteField("purpose", "batch")
	part, _ := w.CreateFormFile("file", "in.jsonl")
	io.WriteString(part, strings.Repeat(chat("a", "gpt-4o-mini", ""), 1000))
	for r.shelved() == 0 { // it comes in
		time.Sleep(5 * time.Millisecond)
	}
	stopped := make(chan struct{})
	go func() { defer close(stopped); r.stop() }()
	for { // until no new connection is taken
		conn, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(r.url, "http://"), "/v1"))
		if err != nil {
			break
		}
		conn.Close()
		time.Sleep(5 * time.Millisecond)
	}
	w.Close()
	in.Close()
	if got := <-answered; got != "200 OK" {
		t.Errorf("the upload that was in flight got %s", got)
	}
	<-stopped
}

func TestUsersAreReadFromLines(t *testing.T) {
	t.Parallel()
	good, err := gateway.ReadUsers([]byte("# who may\n\nanna 0123456789abcdef 12.50\nbert fedcba9876543210\n"))
	if err != nil || len(good) != 2 || good[0].Name != "anna" || good[0].Budget == nil || good[0].Budget.Float() != 12.5 ||
		good[1].Budget != nil {
		t.Errorf("users: %+v, %v", good, err)
	}
	for name, text := range map[string]string{
		"nothing": "# nothing\n", "one word": "anna\n", "a short token": "anna 0123\n", "four words": "anna 0123456789abcdef 1 2\n",
		"no money": "anna 0123456789abcdef much\n", "a user twice": "anna 0123456789abcdef\nanna 0123456789abcdeg\n",
		"a token twice": "anna 0123456789abcdef\nbert 0123456789abcdef\n",
	} {
		if _, err := gateway.ReadUsers([]byte(text)); err == nil || strings.Contains(err.Error(), "0123456789") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
