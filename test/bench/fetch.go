package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/valyala/fastjson"

	"assay/internal/assay"
	"assay/internal/keep/artifacts"
	"assay/internal/send/provider"
	"assay/internal/send/provider/apis"
	"assay/internal/study/catalog"
)

// fetchBytes is the size of the result file.
const fetchBytes = 1 << 30

// fetchBench holds fetching and decoding a result file that another process serves against the JSON parser alone over the
// same bytes, and against copying them over loopback to a synced file.
func fetchBench(ctx context.Context, b *bench) error {
	file := filepath.Join(b.dir, "output.jsonl")
	if err := writeResults(file); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	server, address, err := serveFile(ctx, self, file)
	if err != nil {
		return err
	}
	defer func() { _ = server.Process.Kill(); _ = server.Wait() }()
	parse, err := measure(ctx, 3, self, "floor-of-fetch-parse", file)
	if err != nil {
		return err
	}
	copied, err := measure(ctx, 3, self, "floor-of-fetch-copy", address)
	if err != nil {
		return err
	}
	got, err := measure(ctx, 3, self, "work-of-fetch", address)
	if err != nil {
		return err
	}
	fmt.Printf("parser alone   %s\ncopy to disk   %s\nfetch, decode  %s\n", parse, copied, got)
	fmt.Printf("ratio          %.2f of wall time, %.2f of CPU (at most 1.5); peak %d MB (under 64)\n",
		got.wall.Seconds()/(parse.wall+copied.wall).Seconds(), got.cpu.Seconds()/(parse.cpu+copied.cpu).Seconds(), got.peak>>20)
	return nil
}

// serveFile serves a file from a process of its own, and returns its address.
func serveFile(ctx context.Context, self, file string) (*exec.Cmd, string, error) {
	server := exec.CommandContext(ctx, self, "serve-of-fetch", file)
	out, err := server.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	if err := server.Start(); err != nil {
		return nil, "", err
	}
	address, err := bufio.NewReader(out).ReadString('\n')
	return server, strings.TrimSpace(address), err
}

// writeResults writes an OpenAI result file; its lines are a few KB, some are a megabyte.
func writeResults(name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	sentence := "The river \"runs\" past the stone mill, and nobody measures it twice; naïve café 🙂.\n"
	for i, n := 0, 0; n < fetchBytes; i++ {
		text := strings.Repeat(sentence, 12+i%37)
		if i%20_000 == 19_999 {
			text = strings.Repeat(sentence, 12_000)
		}
		at := assay.Coordinates{Item: fmt.Sprint(i)}
		line, err := json.Marshal(map[string]any{
			"id": fmt.Sprintf("batch_req_%d", i), "custom_id": assay.CustomID(assay.PlanNonce, at.Key()), "error": nil,
			"response": map[string]any{"status_code": 200, "request_id": fmt.Sprintf("req_%d", i), "body": map[string]any{
				"id": fmt.Sprintf("chatcmpl-%d", i), "object": "chat.completion", "created": 1700000000 + i, "model": "gpt-4.1-2025-04-14",
				"choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "logprobs": nil,
					"message": map[string]any{"role": "assistant", "content": text, "refusal": nil}}},
				"usage": map[string]any{"prompt_tokens": 100, "completion_tokens": 200, "total_tokens": 300},
			}},
		})
		if err != nil {
			return err
		}
		w.Write(append(line, '\n'))
		n += len(line) + 1
	}
	return w.Flush()
}

// fetchServe serves the file as an OpenAI result file until it is killed.
func fetchServe(file string) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	return http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, file) }))
}

// fetchParse is the JSON parser alone, line by line.
func fetchParse(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 4<<20)
	var p fastjson.Parser
	for {
		line, err := r.ReadSlice('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if _, err := p.ParseBytes(line); err != nil {
			return err
		}
	}
}

// fetchCopy copies the served bytes to a synced file.
func fetchCopy(address string) error {
	reply, err := http.Get("http://" + address + "/v1/files/file-1/content")
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	f, err := os.CreateTemp("", "assay-bench-copy-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if _, err := io.Copy(f, reply.Body); err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// fetchWork fetches the file as the engine does, into an artifact, and decodes every line.
func fetchWork(address string) error {
	v, _ := catalog.Default().Vendor("openai")
	a, err := apis.Open(provider.Config{Kind: "openai", BaseURL: "http://" + address + "/v1", Key: provider.NewSecret("k"), Limits: v.Limits})
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "assay-bench-fetch-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	folder, err := artifacts.Open(dir)
	if err != nil {
		return err
	}
	sink, err := artifacts.Create(context.Background(), folder, "run", "output")
	if err != nil {
		return err
	}
	part := provider.Part{Name: "output", Kind: provider.PartResults, Ref: "file-1"}
	job := provider.Job{ID: "batch_1", Model: "gpt-4.1", Wire: assay.Wire{Dialect: assay.DialectChat, Carrier: assay.CarrierOpenAI}}
	if err := a.Batch.Fetch(context.Background(), job, part, sink); err != nil {
		return err
	}
	if _, err := sink.Commit(); err != nil {
		return err
	}
	f, err := folder.Open(context.Background(), "run", "output")
	if err != nil {
		return err
	}
	defer f.Close()
	for line, err := range a.Batch.Decode(job, part, f) {
		if err != nil {
			return err
		}
		if line.Outcome.Ending != assay.Answered {
			return fmt.Errorf("line at %d ended %s", line.Offset, line.Outcome.Ending)
		}
	}
	return nil
}
