package assay

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strings"
	"time"
)

// File is something that requests about an item show, as it was when the item was read: a file of the study's folder, or a URL.
type File struct {
	As   string    `json:"as"`             // what the study names: the file, the folder it lies in, or the URL
	Name string    `json:"name,omitempty"` // of the file, from the study's folder; empty: a URL
	Kind MediaKind `json:"kind"`
	Type string    `json:"type,omitempty"` // as its first bytes say
	Size int64     `json:"size,omitempty"`
	Sum  Sum       `json:"sha256,omitzero"`

	Width  int           `json:"width,omitempty"`
	Height int           `json:"height,omitempty"`
	Pages  int           `json:"pages,omitempty"`
	Length time.Duration `json:"length,omitempty"`
}

// Sum is the SHA-256 of a file.
type Sum [32]byte

// String returns it in lower-case hex.
func (s Sum) String() string { return hex.EncodeToString(s[:]) }

// MarshalText writes it in hex.
func (s Sum) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalJSON reads what MarshalText wrote.
func (s *Sum) UnmarshalJSON(text []byte) error {
	text = bytes.Trim(text, `"`)
	if len(text) != hex.EncodedLen(len(s)) {
		return fmt.Errorf("sum %q: want %d hex digits", text, hex.EncodedLen(len(s)))
	}
	_, err := hex.Decode(s[:], text)
	return err
}

// Remote reports whether the provider fetches it.
func (f *File) Remote() bool { return f.Name == "" }

// Label returns what people call it: the file's own name, or the URL.
func (f *File) Label() string {
	if f.Remote() {
		return f.As
	}
	return path.Base(f.Name)
}

// About returns what is known of it, in words.
func (f *File) About() string {
	var words []string
	if f.Remote() {
		words = append(words, string(f.Kind)+", fetched by the provider")
	} else {
		words = append(words, f.Type)
	}
	if f.Width > 0 {
		words = append(words, fmt.Sprintf("%d × %d", f.Width, f.Height))
	}
	if f.Pages > 0 {
		words = append(words, Count(f.Pages, "page"))
	}
	if f.Length > 0 {
		words = append(words, f.Length.Round(100*time.Millisecond).String())
	}
	if f.Size > 0 {
		words = append(words, Size(f.Size))
	}
	return strings.Join(words, ", ")
}

// Media returns what a request shows of it. The name is neutral, so that a path tells a model nothing; open gives its bytes, and may be nil
// where nobody reads them.
func (f *File) Media(detail string, open func(Sum) (io.ReadCloser, error)) *Media {
	m := &Media{Kind: f.Kind, Type: f.Type, Detail: detail, Size: f.Size, Sum: f.Sum, Width: f.Width, Height: f.Height, Pages: f.Pages,
		Length: f.Length}
	if f.Kind != MediaImage {
		m.Detail = ""
	}
	if f.Remote() {
		m.URL = f.As
		return m
	}
	_, ending, _ := strings.Cut(f.Type, "/")
	m.Name = string(f.Kind) + "." + strings.NewReplacer("jpeg", "jpg", "mpeg", "mp3", "mp4", "m4a").Replace(ending)
	if open != nil {
		sum := f.Sum
		m.Open = func() (io.ReadCloser, error) { return open(sum) }
	}
	return m
}

// LostFileError is the error of a file that requests show and of which no bytes are left that have its hash.
type LostFileError struct {
	File  File
	Kept  string // what is wrong with the copy that was kept
	First string // and with the file that it was made from
}

// Error returns what is lost and what a person may do.
func (e *LostFileError) Error() string {
	return fmt.Sprintf("%s is lost: its copy in the artifacts is %s, and %s; put the file with the SHA-256 %.12s… back",
		e.File.Name, e.Kept, e.First, e.File.Sum)
}

// EncodeFiles writes files as a ledger keeps them; nothing where there are none.
func EncodeFiles(files []File) (string, error) {
	if len(files) == 0 {
		return "", nil
	}
	text, err := json.Marshal(files)
	return string(text), err
}

// DecodeFiles reads what EncodeFiles wrote.
func DecodeFiles(text string) ([]File, error) {
	if text == "" {
		return nil, nil
	}
	var files []File
	if err := json.Unmarshal([]byte(text), &files); err != nil {
		return nil, fmt.Errorf("read the files of an item: %w", err)
	}
	return files, nil
}

// Replaced returns a prompt in which media with bytes of their own are others. A prompt without such media is returned as it is.
func (p *Prompt) Replaced(by func(*Media) *Media) *Prompt {
	var out *Prompt
	for i := range p.Messages {
		for k := range p.Messages[i].Parts {
			m := p.Messages[i].Parts[k].Media
			if m == nil || m.URL != "" || m.File != "" {
				continue
			}
			if out == nil {
				out = p.copied()
			}
			out.Messages[i].Parts[k].Media = by(m)
		}
	}
	if out == nil {
		return p
	}
	return out
}

// copied returns a prompt whose parts can be changed without those of the first.
func (p *Prompt) copied() *Prompt {
	out := *p
	out.Messages = append([]Message(nil), p.Messages...)
	for i := range out.Messages {
		out.Messages[i].Parts = append([]Part(nil), out.Messages[i].Parts...)
	}
	return &out
}
