// Package media computes what is known of pictures, documents and sounds without showing them: their type by their first bytes,
// sizes in pixels, pages, lengths, and the tokens that they cost. It reads what it is given and opens nothing.
package media

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"hash"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"time"

	"assay/internal/assay"
)

// Facts are read from the bytes of a file. A fact that they do not hold is 0.
type Facts struct {
	Kind          assay.MediaKind // empty: of no kind that a model is shown
	Type          string          // MIME type; empty: unknown
	Size          int64
	Sum           [sha256.Size]byte
	Width, Height int
	Pages         int
	Length        time.Duration
	Locked        bool // a document that wants a password
}

// headSize is how many bytes tell the type of a file.
const headSize = 512

// Read reads a file to its end and returns what it tells. A file that is broken after its first bytes has a type, and 0 for what could not
// be read.
func Read(r io.Reader) (Facts, error) {
	sum := sha256.New()
	counted := &counter{r: io.TeeReader(r, sum)}
	in := bufio.NewReaderSize(counted, 32<<10)
	head, err := in.Peek(headSize)
	if err != nil && err != io.EOF {
		return Facts{}, err
	}
	f := Facts{}
	f.Kind, f.Type = Sniff(head)
	f.read(in)
	if _, err := io.Copy(io.Discard, in); err != nil {
		return Facts{}, err
	}
	return f.end(sum, counted.n), nil
}

func (f Facts) end(sum hash.Hash, n int64) Facts {
	f.Size = n
	sum.Sum(f.Sum[:0])
	if f.Type == "audio/mpeg" && f.Length < 0 { // bytes a second, until the size is known
		f.Length = time.Duration(float64(n) / float64(-f.Length) * float64(time.Second))
	}
	return f
}

// read fills in what the content of a file tells.
func (f *Facts) read(r *bufio.Reader) {
	decode := map[string]func(io.Reader) (image.Config, error){
		"image/png": png.DecodeConfig, "image/jpeg": jpeg.DecodeConfig, "image/gif": gif.DecodeConfig, "image/webp": webpConfig,
	}[f.Type]
	switch {
	case decode != nil:
		if c, err := decode(r); err == nil {
			f.Width, f.Height = c.Width, c.Height
		}
	case f.Type == "application/pdf":
		f.Pages, f.Locked = pages(r)
	case f.Type == "audio/wav":
		f.Length = wavLength(r)
	case f.Type == "audio/mpeg":
		f.Length = mp3Length(r)
	case f.Type == "audio/flac":
		f.Length = flacLength(r)
	}
}

// counter counts the bytes that are read.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// signature is how files of a type begin.
type signature struct {
	at   int
	text string
	also string // at 8; empty: anything
	kind assay.MediaKind
	mime string
}

func signatures() []signature {
	return []signature{
		{text: "\x89PNG\r\n\x1a\n", kind: assay.MediaImage, mime: "image/png"},
		{text: "\xff\xd8\xff", kind: assay.MediaImage, mime: "image/jpeg"},
		{text: "GIF87a", kind: assay.MediaImage, mime: "image/gif"},
		{text: "GIF89a", kind: assay.MediaImage, mime: "image/gif"},
		{text: "RIFF", also: "WEBP", kind: assay.MediaImage, mime: "image/webp"},
		{text: "BM", kind: assay.MediaImage, mime: "image/bmp"},
		{text: "II*\x00", kind: assay.MediaImage, mime: "image/tiff"},
		{text: "MM\x00*", kind: assay.MediaImage, mime: "image/tiff"},
		{at: 4, text: "ftyp", also: "heic", kind: assay.MediaImage, mime: "image/heic"},
		{at: 4, text: "ftyp", also: "heix", kind: assay.MediaImage, mime: "image/heic"},
		{at: 4, text: "ftyp", also: "mif1", kind: assay.MediaImage, mime: "image/heif"},
		{at: 4, text: "ftyp", also: "M4A ", kind: assay.MediaAudio, mime: "audio/mp4"},
		{text: "%PDF-", kind: assay.MediaDocument, mime: "application/pdf"},
		{text: "RIFF", also: "WAVE", kind: assay.MediaAudio, mime: "audio/wav"},
		{text: "ID3", kind: assay.MediaAudio, mime: "audio/mpeg"},
		{text: "fLaC", kind: assay.MediaAudio, mime: "audio/flac"},
		{text: "OggS", kind: assay.MediaAudio, mime: "audio/ogg"},
		{text: "FORM", also: "AIFF", kind: assay.MediaAudio, mime: "audio/aiff"},
	}
}

// Sniff returns the kind and the MIME type of a file that begins so; both are empty where it is none that models are shown.
func Sniff(head []byte) (assay.MediaKind, string) {
	has := func(at int, text string) bool { return len(head) >= at && bytes.HasPrefix(head[at:], []byte(text)) }
	for _, s := range signatures() {
		if has(s.at, s.text) && (s.also == "" || has(8, s.also)) {
			return s.kind, s.mime
		}
	}
	if len(head) >= 4 {
		if _, ok := mp3Frame(head); ok {
			return assay.MediaAudio, "audio/mpeg"
		}
	}
	return "", ""
}
