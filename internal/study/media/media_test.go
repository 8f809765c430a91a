package media

import (
	"bytes"
	"compress/zlib"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"assay/internal/assay"
)

// picture encodes an empty picture.
func picture(t testing.TB, mime string, w, h int) []byte {
	t.Helper()
	var b bytes.Buffer
	img := image.NewGray(image.Rect(0, 0, w, h))
	var err error
	switch mime {
	case "image/png":
		err = png.Encode(&b, img)
	case "image/jpeg":
		err = jpeg.Encode(&b, img, nil)
	case "image/gif":
		err = gif.Encode(&b, img, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// webp returns the beginning of a WebP file with one chunk.
func webp(chunk, body string) []byte {
	return []byte("RIFF\x00\x00\x00\x00WEBP" + chunk + "\x00\x00\x00\x00" + body + strings.Repeat("\x00", 20))
}

func wav(rate uint32, data int) []byte {
	b := []byte("RIFF....WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00........\x02\x00\x10\x00LIST\x03\x00\x00\x00abc\x00data")
	binary.LittleEndian.PutUint32(b[28:], rate)
	b = binary.LittleEndian.AppendUint32(b, uint32(data))
	return append(b, make([]byte, data)...)
}

// mp3 returns so many frames of 128 kbit/s at 44.1 kHz; the first one holds a note.
func mp3(frames int, note string) []byte {
	var out []byte
	for range frames {
		f := make([]byte, 417)
		copy(f, "\xff\xfb\x90\x00")
		copy(f[36:], note)
		note = ""
		out = append(out, f...)
	}
	return out
}

func packedPDF(body string) string {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, _ = z.Write([]byte(body))
	z.Close()
	return "%PDF-1.7\n4 0 obj <</Type /ObjStm /Filter /FlateDecode>> stream\r\n" + b.String() + "\nendstream"
}

func TestFactsOfFiles(t *testing.T) {
	t.Parallel()
	pdf := "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type /Pages /Kids[3 0 R] /Count 7>>endobj\n" +
		"3 0 obj<</Type /Pages /Parent 2 0 R /Count 3>>endobj"
	webpFacts := Facts{Kind: assay.MediaImage, Type: "image/webp", Width: 800, Height: 600}
	pdfFacts := func(pages int) Facts { return Facts{Kind: assay.MediaDocument, Type: "application/pdf", Pages: pages} }
	for name, c := range map[string]struct {
		file []byte
		want Facts
	}{
		"png":           {picture(t, "image/png", 31, 17), Facts{Kind: assay.MediaImage, Type: "image/png", Width: 31, Height: 17}},
		"jpeg":          {picture(t, "image/jpeg", 640, 480), Facts{Kind: assay.MediaImage, Type: "image/jpeg", Width: 640, Height: 480}},
		"gif":           {picture(t, "image/gif", 5, 9), Facts{Kind: assay.MediaImage, Type: "image/gif", Width: 5, Height: 9}},
		"webp lossy":    {webp("VP8 ", "\x00\x00\x00\x9d\x01\x2a\x20\x03\x58\x02"), webpFacts},
		"webp lossless": {webp("VP8L", "\x2f\x1f\xc3\x95\x00"), webpFacts},
		"webp extended": {webp("VP8X", "\x00\x00\x00\x00\x1f\x03\x00\x57\x02\x00"), webpFacts},
		"webp unknown":  {webp("ABCD", ""), Facts{Kind: assay.MediaImage, Type: "image/webp"}},
		"cut png":       {picture(t, "image/png", 31, 17)[:12], Facts{Kind: assay.MediaImage, Type: "image/png"}},
		"heic":          {[]byte("\x00\x00\x00\x18ftypheic...."), Facts{Kind: assay.MediaImage, Type: "image/heic"}},
		"pdf":           {[]byte(pdf), pdfFacts(7)},
		"pdf, edited":   {[]byte(pdf + "2 0 obj<</Count 9/Type/Pages>>"), pdfFacts(9)},
		"pdf, packed":   {[]byte(packedPDF("2 0 <</Type /Pages /Count 12>>")), pdfFacts(12)},
		"pdf, locked": {[]byte("%PDF-1.4 trailer <</Encrypt 5 0 R>>"),
			Facts{Kind: assay.MediaDocument, Type: "application/pdf", Locked: true}},
		"pdf, broken": {[]byte("%PDF-1.4 /Type /Pages /Count 4"), Facts{Kind: assay.MediaDocument, Type: "application/pdf"}},
		"wav":         {wav(32000, 48000), Facts{Kind: assay.MediaAudio, Type: "audio/wav", Length: 1500 * time.Millisecond}},
		"mp3, noted": {mp3(3, "Info\x00\x00\x00\x01\x00\x00\x03\xe8"),
			Facts{Kind: assay.MediaAudio, Type: "audio/mpeg", Length: 26122448979}},
		"mp3, one rate": {mp3(100, ""), Facts{Kind: assay.MediaAudio, Type: "audio/mpeg", Length: 2606250000}},
		"mp3, several": {append(mp3(2, ""), "\xff\xfb\xa0\x00"+strings.Repeat("\x00", 900)...),
			Facts{Kind: assay.MediaAudio, Type: "audio/mpeg"}},
		"flac": {[]byte("fLaC\x00\x00\x00\x22\x10\x00\x10\x00\x00\x00\x00\x00\x00\x00\x0a\xc4\x42\xf0\x00\x01\x58\x88........"),
			Facts{Kind: assay.MediaAudio, Type: "audio/flac", Length: 2 * time.Second}},
		"a program": {[]byte("#!/bin/sh\nexit 1\n"), Facts{}},
		"nothing":   {nil, Facts{}},
		"html":      {[]byte("<html><script>alert(1)</script>"), Facts{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.want.Size, c.want.Sum = int64(len(c.file)), sha256.Sum256(c.file)
			for way, r := range map[string]io.Reader{"at once": bytes.NewReader(c.file),
				"by bytes": iotest.OneByteReader(bytes.NewReader(c.file))} {
				got, err := Read(r)
				if err != nil || got != c.want {
					t.Errorf("%s: %+v (%v), want %+v", way, got, err, c.want)
				}
			}
		})
	}
}

func TestAFileThatCannotBeReadIsAnError(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk is gone")
	r := io.MultiReader(bytes.NewReader(picture(t, "image/png", 31, 17)[:40]), iotest.ErrReader(broken))
	if f, err := Read(r); !errors.Is(err, broken) {
		t.Errorf("%+v, error %v: want the error of the disk", f, err)
	}
}

func FuzzRead(f *testing.F) {
	for _, mime := range []string{"image/png", "image/jpeg", "image/gif"} {
		f.Add(picture(f, mime, 9, 4))
	}
	for _, s := range []string{"VP8 ", "VP8L", "VP8X"} {
		f.Add(webp(s, "\x2f\x00\x00\x9d\x01\x2a"))
	}
	f.Add(wav(8000, 100))
	f.Add(mp3(4, "Xing\x00\x00\x00\x01\xff\xff\xff\xff"))
	f.Add([]byte("ID3\x04\x00\x00\x7f\x7f\x7f\x7f\xff\xfb"))
	f.Add([]byte(packedPDF("<</Type /Pages /Count 999999>>")))
	f.Add([]byte("fLaC\x00\x00\x00\x22" + strings.Repeat("\xff", 40)))
	f.Fuzz(func(t *testing.T, file []byte) {
		got, err := Read(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		if got.Size != int64(len(file)) || got.Sum != sha256.Sum256(file) {
			t.Errorf("size or sum are not those of the file: %+v", got)
		}
		if got.Width < 0 || got.Height < 0 || got.Pages < 0 || got.Length < 0 {
			t.Errorf("negative: %+v", got)
		}
		if (got.Kind == "") != (got.Type == "") {
			t.Errorf("a kind without a type, or a type without a kind: %+v", got)
		}
	})
}
