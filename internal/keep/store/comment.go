package store

import (
	"time"

	"assay/internal/assay"
)

// Comment is what a person wrote about an answer.
type Comment struct {
	No     int64
	Run    int64
	Key    assay.Key // of the answer
	Item   string
	Person string
	Text   string
	At     time.Time
}
