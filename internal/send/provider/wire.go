package provider

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"time"

	"assay/internal/assay"
)

// The types below read what providers write in more than one way. They never fail: a time or a count that cannot be read
// is unknown, which is no reason to lose the answer around it.

// Moment is a time written as Unix seconds, Unix milliseconds or RFC 3339; the zero time if there is none.
type Moment struct{ time.Time }

// UnmarshalJSON reads any of the spellings.
func (m *Moment) UnmarshalJSON(b []byte) error {
	m.Time = time.Time{}
	s := unquote(b)
	if at, err := time.Parse(time.RFC3339, s); err == nil {
		m.Time = at.UTC()
		return nil
	}
	n, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil || !(n > 0) || n > 1e14:
	case n > 1e11:
		m.Time = time.UnixMilli(int64(n)).UTC()
	default:
		m.Time = time.Unix(int64(n), 0).UTC()
	}
	return nil
}

// Number is a count written as a number or as a string; 0 if there is none.
type Number int64

// UnmarshalJSON reads both spellings.
func (n *Number) UnmarshalJSON(b []byte) error {
	*n = 0
	if f, err := strconv.ParseFloat(unquote(b), 64); err == nil && math.Abs(f) < 1<<53 {
		*n = Number(f)
	}
	return nil
}

// Labels is a flat map of texts; values of other types are left out.
type Labels map[string]string

// UnmarshalJSON keeps the texts.
func (l *Labels) UnmarshalJSON(b []byte) error {
	*l = nil
	var all map[string]any
	if json.Unmarshal(b, &all) != nil {
		return nil
	}
	*l = make(Labels, len(all))
	for k, v := range all {
		if s, ok := v.(string); ok {
			(*l)[k] = s
		}
	}
	return nil
}

// Text is a string that some providers write as a number or an object; those are kept as they are written.
type Text string

// UnmarshalJSON reads any value.
func (t *Text) UnmarshalJSON(b []byte) error {
	if bytes.Equal(b, []byte("null")) {
		*t = ""
		return nil
	}
	*t = Text(unquote(b))
	return nil
}

func unquote(b []byte) string {
	var s string
	if json.Unmarshal(b, &s) == nil {
		return s
	}
	return string(b)
}

// The keys of a stamp in a job's metadata.
const (
	metaRun     = "assay_run"
	metaSegment = "assay_segment"
	metaSHA256  = "assay_sha256"
	metaAttempt = "assay_attempt"
	metaNote    = "assay_note"
	metaBy      = "assay_by"
)

// maxMeta is how long a value of a job's metadata may be at every provider that takes some.
const maxMeta = 500

// Metadata returns the stamp as a job's metadata, with the words of the person who began the run.
func (p BatchInput) Metadata() map[string]string {
	all := p.Stamp.Metadata()
	for key, text := range map[string]string{metaNote: p.Note, metaBy: p.By} {
		if text != "" {
			all[key] = assay.Clean(text, maxMeta)
		}
	}
	return all
}

// Metadata returns the stamp as a job's metadata.
func (s Stamp) Metadata() map[string]string {
	return map[string]string{metaRun: s.Run, metaSegment: s.Segment, metaSHA256: s.SHA256, metaAttempt: strconv.Itoa(s.Attempt)}
}

// Stamp returns what Metadata wrote; the zero stamp if it is not ours.
func (l Labels) Stamp() Stamp {
	attempt, _ := strconv.Atoi(l[metaAttempt]) // nothing there: unknown
	return Stamp{Run: l[metaRun], Segment: l[metaSegment], Attempt: attempt, SHA256: l[metaSHA256]}
}

// NewHandle writes a vendor's memory of a segment.
func NewHandle(v any) Handle {
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return Handle(b)
}

// Read decodes a handle. An empty or foreign one leaves the value unchanged: preparing starts again.
func (h Handle) Read(into any) {
	if h != "" {
		_ = json.Unmarshal([]byte(h), into)
	}
}
