package artifacts

import (
	"context"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"

	"assay/internal/assay"
)

// Shown is where the files lie that requests show, each once under its hash, under the name of a run that there is not.
const Shown = "media"

// OpenShown opens a file that requests show. One whose bytes are not those of its hash ends in an error, so that nothing is paid for
// another picture.
func OpenShown(ctx context.Context, p Place, sum assay.Sum) (io.ReadCloser, error) {
	f, err := p.Open(ctx, Shown, sum.String())
	if err != nil {
		return nil, err
	}
	return &shownFile{Closer: f, in: f, want: sum, have: sha256.New()}, nil
}

// shownFile compares what was read with a hash when the file ends.
type shownFile struct {
	io.Closer
	in   io.Reader
	want assay.Sum
	have hash.Hash
}

// Read reads on.
func (f *shownFile) Read(p []byte) (int, error) {
	n, err := f.in.Read(p)
	f.have.Write(p[:n])
	if err == io.EOF && assay.Sum(f.have.Sum(nil)) != f.want {
		return n, fmt.Errorf("%s/%s is damaged: its bytes are not those of its name", Shown, f.want)
	}
	return n, err
}
