package provider

import (
	"context"
	"iter"
	"time"

	"assay/internal/assay"
)

// Keeper is the power to keep files that requests show: each is uploaded once, and requests name it by its id.
type Keeper interface {
	// Keep uploads a file under a name of ours. With an error the file may be there all the same, unless LaunchStatusOf is Refused.
	Keep(ctx context.Context, f Upload) (Kept, error)

	// Kept walks over the files of the account that are there now.
	Kept(ctx context.Context) iter.Seq2[Kept, error]

	// Forget deletes a file. One that is gone already is deleted.
	Forget(ctx context.Context, id string) error
}

// Upload is a file to keep.
type Upload struct {
	Name  string // lower-case letters, digits and dashes: legal everywhere
	Kind  assay.MediaKind
	Type  string // MIME type
	Lasts time.Duration
	Body  Source
}

// Kept is a file at a provider.
type Kept struct {
	ID      string // as requests name it
	Name    string // that it was uploaded under; empty: not by us
	Bytes   int64  // 0: not told
	Ready   bool   // requests may name it
	Expires time.Time
}
