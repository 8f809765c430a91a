package objects_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"

	"assay/internal/keep/artifacts"
	"assay/internal/keep/artifacts/artifactstest"
)

// asWriter makes a process of this binary write into the bucket of an address, and wait for its end.
const asWriter = "ASSAY_CLOUD_WRITER"

func TestMain(m *testing.M) {
	if address := os.Getenv(asWriter); address != "" {
		if err := writeHalf(address); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

func download() []byte {
	text := make([]byte, 50<<20)
	rand.NewChaCha8([32]byte{7}).Read(text)
	return text
}

// writeHalf is a process in the middle of a download. It never ends by itself.
func writeHalf(address string) error {
	b, err := openBucket(address, artifactstest.Env, artifacts.Cache{})
	if err != nil {
		return err
	}
	s, err := b.Sink(context.Background(), "r1", "out")
	if err != nil {
		return err
	}
	if err := s.Begin(0, "etag"); err != nil {
		return err
	}
	if _, err := s.Write(download()[:40<<20]); err != nil {
		return err
	}
	fmt.Println("half")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

func TestADownloadThatAKillCutGoesOnAtAnotherProcess(t *testing.T) {
	t.Parallel()
	server := artifactstest.NewServer(t)
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), asWriter+"="+server.S3("p"))
	in, err := child.StdinPipe() // it ends with this process
	ok(t, err)
	defer in.Close()
	out, err := child.StdoutPipe()
	ok(t, err)
	ok(t, child.Start())
	word := make([]byte, 4)
	if _, err := io.ReadFull(out, word); err != nil || string(word) != "half" {
		t.Fatalf("%q, %v", word, err)
	}
	ok(t, child.Process.Kill())
	_ = child.Wait() // it was killed

	p := open(t, server.S3("p"), 0)
	if _, err := read(t, p, "out"); err == nil {
		t.Error("half an artifact was read")
	}
	s, err := p.Sink(t.Context(), "r1", "out")
	ok(t, err)
	n, validator := s.Held()
	if n < 16<<20 || n > 40<<20 || validator != "etag" {
		t.Fatalf("held %d, %q", n, validator)
	}
	text := download()
	ok(t, s.Begin(n, validator))
	_, err = s.Write(text[n:])
	ok(t, err)
	info, err := s.Commit()
	ok(t, err)
	if got, err := read(t, open(t, server.S3("p"), 0), "out"); err != nil || !bytes.Equal(got, text) || info.Size != int64(len(text)) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if all, err := artifacts.Names(t.Context(), p, "r1"); err != nil || len(all) != 1 {
		t.Errorf("%v, %v", all, err)
	}
}
