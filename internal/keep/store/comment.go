package store

import (
	"time"

	"assay/internal/assay"
)

// Comment is a person's comment on an answer.
type Comment struct {
	No     int64
	Run    int64
	Key    assay.Key // of the answer
	Item   string
	Person string
	Text   string
	At     time.Time
}
