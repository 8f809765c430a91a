package media

import (
	"slices"
	"time"

	"assay/internal/assay"
)

// Uploads is what a vendor keeps under ids that requests may name in the place of bytes. The zero value keeps nothing.
type Uploads struct {
	Kinds []assay.MediaKind `yaml:"kinds"`
	Most  int64             `yaml:"most"`  // bytes of a file
	Lasts time.Duration     `yaml:"lasts"` // how long a file is kept: the vendor's time, or the one that we ask for
}

// leastUpload is the size from which a file is uploaded. A smaller one is written into the requests, which is less than a call of its own.
const leastUpload = 100_000

// IDBytes is how long a vendor's id of a file may be, with room to spare.
const IDBytes = 120

// Take reports whether a file is uploaded, and named by its id.
func (u Uploads) Take(m *assay.Media) bool {
	return m.URL == "" && m.File == "" && m.Size >= leastUpload && (u.Most == 0 || m.Size <= u.Most) && slices.Contains(u.Kinds, m.Kind)
}
