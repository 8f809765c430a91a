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

	"assay/internal/simulator"
	"assay/test/bench/child"
)

// batchMegabytes is the usual size of the batch file.
const batchMegabytes = 100

// batchBench sends plain batch files of two sizes through the whole way, against checking that every line is JSON. Memory
// must not grow with the file.
func batchBench(ctx context.Context, b *bench) error {
	size := b.n
	if size == 0 {
		size = batchMegabytes
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var peaks [2]int64
	for i, mb := range []int{max(size/8, 1), size} {
		if peaks[i], err = batchWay(ctx, b, self, mb); err != nil {
			return err
		}
	}
	fmt.Printf("peak memory %d MB at %d MB, %d MB at %d MB\n", peaks[0]>>20, max(size/8, 1), peaks[1]>>20, size)
	return nil
}

// batchWay measures one file and returns the highest peak of its commands.
func batchWay(ctx context.Context, b *bench, self string, mb int) (int64, error) {
	dir := filepath.Join(b.dir, fmt.Sprintf("batch-%d", mb))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "in.jsonl")
	lines, err := writeBatch(file, int64(mb)<<20)
	if err != nil {
		return 0, err
	}
	server := exec.CommandContext(ctx, self, "serve-of-batch", dir)
	out, err := server.StdoutPipe()
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		return 0, err
	}
	defer func() { _ = server.Process.Kill(); _ = server.Wait() }()
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return 0, err
	}
	os.Setenv("OPENAI_BASE_URL", strings.TrimSpace(address)+"/openai/v1")
	os.Setenv("OPENAI_API_KEY", "sim")
	floor, err := child.Measure(ctx, 1, self, "floor-of-batch", file)
	if err != nil {
		return 0, err
	}
	fmt.Printf("-- %d MB, %d requests\nevery line is JSON  %s\n", mb, lines, floor)
	peak := int64(0)
	home := filepath.Join(dir, "home")
	for _, step := range [][]string{
		{"cost", file}, {"submit", file, "--yes"}, {"resume", "--interval", "100ms"},
		{"collect", "--output", filepath.Join(dir, "out.jsonl")},
	} {
		c, err := child.Measure(ctx, 1, b.assay, append(append([]string{"batch"}, step...), "--home", home)...)
		if err != nil {
			return 0, err
		}
		fmt.Printf("%-19s %s, %.1f times the CPU of the floor\n", "batch "+step[0], c, c.CPU.Seconds()/floor.CPU.Seconds())
		peak = max(peak, c.Peak)
	}
	return peak, nil
}

// writeBatch writes a batch file of about a size; its lines have some KB.
func writeBatch(name string, size int64) (lines int, err error) {
	f, err := os.Create(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	sentence := "The river \"runs\" past the stone mill, and nobody measures it twice; naïve café 🙂.\n"
	for n := int64(0); n < size; lines++ {
		line, err := json.Marshal(map[string]any{
			"custom_id": fmt.Sprintf("question/%d", lines), "method": "POST", "url": "/v1/chat/completions",
			"body": map[string]any{"model": "gpt-4.1-mini", "max_tokens": 20, "messages": []any{
				map[string]any{"role": "user", "content": strings.Repeat(sentence, 12+lines%37)},
			}},
		})
		if err != nil {
			return 0, err
		}
		w.Write(append(line, '\n'))
		n += int64(len(line)) + 1
	}
	return lines, w.Flush()
}

// batchFloor checks that every line of a file is JSON.
func batchFloor(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 && !json.Valid(line) {
			return errors.New("a line is no JSON")
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// batchServe serves simulated providers until it is killed.
func batchServe(dir string) error {
	sim, err := simulator.New(simulator.Options{Seed: 1, Dir: dir})
	if err != nil {
		return err
	}
	defer sim.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println("http://" + l.Addr().String())
	return http.Serve(l, sim)
}
