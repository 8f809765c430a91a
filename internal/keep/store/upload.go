package store

import (
	"time"

	"assay/internal/assay"
)

// Upload is a file that requests show, as it is kept at a provider for one account.
type Upload struct {
	Account  string // key and address
	Provider string
	Sum      assay.Sum
	Bytes    int64
	Renewed  int64     // how often it was uploaded again because its time was over
	Calls    int64     // how often it was sent under this name
	Until    time.Time // the end of the call that sends it, wherever that is made; zero: the file is there
	File     string    // the provider's id
	Expires  time.Time // zero: it stays
}

// Usable reports whether requests may name the file until a moment.
func (u *Upload) Usable(until time.Time) bool {
	return u.File != "" && (u.Expires.IsZero() || !u.Expires.Before(until))
}
