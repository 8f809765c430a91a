package rows

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"assay/internal/assay"
	"assay/internal/find/results"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/store"
	"assay/internal/send/batchrun"
	"assay/internal/send/dialect"
)

// Where the bytes that went out come from.
const (
	sentKept  = "the file that was sent"
	sentAgain = "made again from the study"
	sentNone  = "nothing was sent"
	notAgain  = "cannot be made again: "
)

// RawBytes reads the bytes that an answer was read from, as the provider sent them; nothing where none are kept.
func RawBytes(ctx context.Context, r *results.Reader, run store.Run, key assay.Key) ([]byte, error) {
	a, err := r.Ledger.AnswerTo(ctx, run.No, key)
	if err != nil || a.Artifact == 0 {
		return nil, err
	}
	file, err := r.Pages.ArtifactNo(ctx, run.No, a.Artifact)
	if err != nil {
		return nil, err
	}
	line, err := artifacts.Line(ctx, r.Scripts.Files, run.ID, file.Name, a.Offset, a.Length)
	if err != nil {
		return nil, err
	}
	return line, artifacts.Verify(line, a.Sum)
}

// sentBytes returns the bytes that went out for a request: of a batch, out of the file that was sent; of a live
// request, made again.
func sentBytes(ctx context.Context, r *results.Reader, run store.Run, a store.Answer) (text, how string, err error) {
	g, err := r.Ledger.Segment(ctx, a.Segment)
	again := sentAgain
	switch {
	case err != nil:
		return "", "", err
	case a.Mode != store.Batch && a.Mode != store.Live:
		return "", sentNone, nil
	case a.Mode == store.Batch && g.Input != "":
		line, err := lineSent(ctx, r, run, g, a.Key)
		switch {
		case err != nil:
			again += "; the file that was sent cannot be read: " + err.Error()
		case line == nil:
			again += "; the file that was sent does not hold it"
		default:
			return string(line), sentKept, nil
		}
	}
	if _, file := batchrun.Of(run); file {
		files := &batchrun.Reader{Ledger: r.Ledger, Pages: r.Pages, Files: r.Scripts.Files, Catalog: r.Scripts.Catalog}
		body, err := files.Body(ctx, run, a.At.Item)
		return string(body), sentKept, err
	}
	made, err := r.Scripts.Build(ctx, run, a.Mode, []assay.Coordinates{a.At})
	if err != nil {
		return "", notAgain + err.Error(), nil
	}
	var out []byte
	if a.Mode == store.Batch {
		out, err = dialect.AppendLine(nil, assay.CustomID(g.Nonce, a.Key), made[0].Request)
	} else {
		out, err = dialect.AppendBody(nil, made[0].Request)
	}
	return string(out), again, err
}

// lineSent finds a request in the file of its segment; nil where it is not in it. Files may be large: they are read a
// block at a time.
func lineSent(ctx context.Context, r *results.Reader, run store.Run, g store.Segment, key assay.Key) ([]byte, error) {
	file, err := r.Scripts.Files.Open(ctx, run.ID, g.Input)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	id := `"` + assay.CustomID(g.Nonce, key) + `"`
	for _, begin := range []string{`{"custom_id":`, `{"key":`} { // a line begins with its id at every provider
		at, err := find(file, []byte(begin+id), file.Size())
		if err != nil {
			return nil, err
		}
		if at >= 0 {
			var line json.RawMessage
			err := json.NewDecoder(io.NewSectionReader(file, at, file.Size()-at)).Decode(&line)
			return line, err
		}
	}
	return nil, nil
}

// find returns the index of the first occurrence of some bytes; -1: none.
func find(in io.ReaderAt, what []byte, size int64) (int64, error) {
	const block = 1 << 20
	buf := make([]byte, block+len(what))
	for at := int64(0); at < size; at += block {
		n, err := in.ReadAt(buf[:min(int64(len(buf)), size-at)], at)
		if i := bytes.Index(buf[:n], what); i >= 0 {
			return at + int64(i), nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, fmt.Errorf("look through the bytes that were sent: %w", err)
		}
	}
	return -1, nil
}
