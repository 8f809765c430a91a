package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"

	"github.com/valyala/fastjson"
)

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
