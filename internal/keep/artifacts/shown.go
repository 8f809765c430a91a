package artifacts

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"assay/internal/assay"
)

// Shown is where the files lie that requests show, each once under its hash, under the name of a run that there is not.
const Shown = "media"

// OpenShown opens a file that requests show. It is read once before, and one whose bytes are not those of its hash is ErrDamaged: nothing
// is paid for another picture.
func OpenShown(ctx context.Context, p Place, sum assay.Sum) (File, error) {
	f, err := p.Open(ctx, Shown, sum.String())
	if err != nil {
		return nil, err
	}
	have := sha256.New()
	if _, err = io.Copy(have, f); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err == nil && assay.Sum(have.Sum(nil)) != sum {
		err = fmt.Errorf("%s/%s: %w: they are not those of its name", Shown, sum, ErrDamaged)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// KeepShown keeps a file that requests show under its hash. Other bytes are ErrDamaged.
func KeepShown(ctx context.Context, p Place, sum assay.Sum, from io.Reader) error {
	sink, err := Create(ctx, p, Shown, sum.String())
	if err != nil {
		return err
	}
	have := sha256.New()
	if _, err = io.Copy(io.MultiWriter(sink, have), from); err == nil && assay.Sum(have.Sum(nil)) != sum {
		err = fmt.Errorf("%w: their SHA-256 is %x", ErrDamaged, have.Sum(nil))
	}
	if err != nil {
		return errors.Join(err, sink.Discard())
	}
	_, err = sink.Commit()
	return err
}
