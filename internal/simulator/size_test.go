package simulator

import (
	"bufio"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"assay/internal/simulator/backend"
)

// heap returns what is in use after a collection.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// uploadLines streams n lines to OpenAI and returns the file's id.
func (w *world) uploadLines(vendor string, n int) string {
	w.t.Helper()
	pr, pw := io.Pipe()
	m := multipart.NewWriter(pw)
	go func() {
		_ = m.WriteField("purpose", "batch")
		f, _ := m.CreateFormFile("file", "big.jsonl")
		b := bufio.NewWriter(f)
		for i := range n {
			fmt.Fprintf(b, `{"custom_id":"id-%d","method":"POST","url":"/v1/chat/completions","body":{"model":"m","max_tokens":20,"messages":[{"role":"user","content":"Question %d?"}]}}`+"\n", i, i)
		}
		_ = b.Flush()
		_ = m.Close()
		_ = pw.Close()
	}()
	g := w.do("POST", w.base[vendor]+"/files", pr, "Content-Type", m.FormDataContentType())
	wantStatus(w.t, g, 200)
	return g.doc(w.t).str("id")
}

// Not parallel: it measures the memory of the whole process.
func TestMemoryDoesNotGrowWithTheNumberOfRequests(t *testing.T) {
	const n = 200_000
	w := newWorld(t, Options{Limits: backend.Limits{BatchRequests: n}})
	before := heap()
	f := w.uploadLines("generic", n)
	url := w.base["generic"]
	id := w.json("POST", url+"/batches", `{"input_file_id":"`+f+`","endpoint":"/v1/chat/completions","completion_window":"24h"}`).str("id")
	b := w.json("GET", url+"/batches/"+id, "")
	diff(t, n*1.0, b.at("request_counts.completed"))
	req, _ := http.NewRequest("GET", url+"/files/"+b.str("output_file_id")+"/content", nil)
	req.Header = w.head.Clone()
	res, err := w.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	got := 0
	for r := bufio.NewReaderSize(res.Body, 1<<20); ; got++ {
		if _, err := r.ReadSlice('\n'); err != nil {
			break
		}
	}
	diff(t, n, got)
	used := int64(heap()) - int64(before)
	t.Logf("%d bytes in use for %d requests", used, n)
	if used > n*8 {
		t.Errorf("%d bytes in use for %d requests: more than 8 each", used, n)
	}
	rows := 0
	res, err = w.http.Get("http://sim.invalid/sim/ledger")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	for r := bufio.NewReader(res.Body); ; {
		part, err := r.ReadString(',')
		rows += strings.Count(part, `"id-`)
		if err != nil {
			break
		}
	}
	diff(t, 2*n, rows) // as a custom id, and as billed
}

func TestManyCallersAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{Rate: 100, Queue: time.Second})
	f := w.upload(w.base["openai"]+"/files", "in.jsonl", chatLines(200), "purpose", "batch").str("id")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			id := w.openAICreate(f)
			for range 6 {
				w.clock.Advance(100 * time.Millisecond)
				w.openAIBatch(id)
				w.json("GET", w.base["openai"]+"/batches", "")
				w.json("POST", w.base["openai"]+"/chat/completions",
					fmt.Sprintf(`{"model":"gpt-4o","messages":[{"role":"user","content":"%d"}]}`, i%2))
				w.json("POST", w.base["anthropic"]+"/v1/messages/batches", messageBatch(3))
			}
			if i%2 == 0 {
				_ = w.do("POST", w.base["openai"]+"/batches/"+id+"/cancel", nil)
			}
			w.clock.Advance(time.Minute)
			if out := w.openAIBatch(id).str("output_file_id"); out != "" {
				w.openAIContent(out)
			}
			_ = w.s.Ledger()
		})
	}
	wg.Wait()
	live := 0
	for _, l := range w.s.Ledger().Live {
		live += l.Count
	}
	diff(t, []int{8 + 48, 48}, []int{len(w.s.Ledger().Jobs), live})
}
