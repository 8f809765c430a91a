// Package eyes is what simulated models see and hear: what a picture, a document or a sound is by its bytes, and how many tokens providers
// bill for it. Nothing here comes from the rules that the program quotes by, so that a mistake in those shows as a wrong quote.
package eyes

import (
	"bytes"
	"compress/zlib"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"image"
	_ "image/gif"  // decoders of pictures
	_ "image/jpeg" // likewise
	_ "image/png"  // likewise
	"io"
	"regexp"
)

// Kind is the sense that a thing is for.
type Kind string

// The kinds.
const (
	Picture  Kind = "picture"
	Document Kind = "document"
	Sound    Kind = "sound"
)

// Thing is one thing that a model is shown.
type Thing struct {
	Kind          Kind
	Type          string // MIME type by the first bytes; empty: unknown
	Detail        string // how closely the request wants it looked at
	TextOnly      bool   // of a document: its pages are not looked at
	Sum           string // the first 8 characters of its SHA-256
	Bytes         int
	Width, Height int
	Pages         int
	Seconds       float64
	Locked        bool   // a document with a password
	Colour        string // of a small picture: most of it; empty: not looked at
}

// colourMost is how many pixels a picture may have whose colour is looked at.
const colourMost = 1 << 20

// Look returns what bytes show.
func Look(b []byte) Thing {
	sum := sha256.Sum256(b)
	t := Thing{Sum: hex.EncodeToString(sum[:4]), Bytes: len(b)}
	begins := func(s string) bool { return bytes.HasPrefix(b, []byte(s)) }
	inside := func(at int, s string) bool { return len(b) > at && bytes.HasPrefix(b[at:], []byte(s)) }
	switch {
	case begins("\x89PNG"):
		t.Kind, t.Type = Picture, "image/png"
	case begins("\xff\xd8\xff"):
		t.Kind, t.Type = Picture, "image/jpeg"
	case begins("GIF8"):
		t.Kind, t.Type = Picture, "image/gif"
	case begins("RIFF") && inside(8, "WEBP"):
		t.Kind, t.Type = Picture, "image/webp"
		t.Width, t.Height = webpSize(b)
	case begins("RIFF") && inside(8, "WAVE"):
		t.Kind, t.Type, t.Seconds = Sound, "audio/wav", wavSeconds(b)
	case begins("%PDF-"):
		t.Kind, t.Type, t.Pages, t.Locked = Document, "application/pdf", pagesOf(b), bytes.Contains(b, []byte("/Encrypt"))
	case begins("ID3"), len(b) > 1 && b[0] == 0xff && b[1]&0xe0 == 0xe0:
		t.Kind, t.Type, t.Seconds = Sound, "audio/mpeg", mp3Seconds(b)
	case begins("fLaC"), begins("OggS"), begins("FORM"), inside(4, "ftypM4A"):
		t.Kind, t.Type, t.Seconds = Sound, "audio/other", float64(len(b))/16_000
	case begins("BM"), begins("II*"), begins("MM\x00*"), inside(4, "ftyphei"), inside(4, "ftypmif"):
		t.Kind, t.Type = Picture, "image/other"
	}
	if t.Kind == Picture && t.Width == 0 {
		t.see(b)
	}
	return t
}

// Behind returns what a model would see at an address that the simulator does not fetch: made up from the address alone.
func Behind(kind Kind, address string) Thing {
	sum := sha256.Sum256([]byte(address))
	t := Thing{Kind: kind, Sum: hex.EncodeToString(sum[:4])}
	switch kind {
	case Picture:
		t.Width, t.Height = 640+int(sum[4])*4, 480+int(sum[5])*4
	case Document:
		t.Pages = 1 + int(sum[4])%8
	case Sound:
		t.Seconds = 5 + float64(sum[4])/8
	}
	return t
}

// see reads the size of a picture, and of a small one its colour.
func (t *Thing) see(b []byte) {
	c, _, err := image.DecodeConfig(bytes.NewReader(b))
	if err != nil {
		return
	}
	t.Width, t.Height = c.Width, c.Height
	if c.Width*c.Height > colourMost {
		return
	}
	if m, _, err := image.Decode(bytes.NewReader(b)); err == nil {
		t.Colour = colourOf(m)
	}
}

// Colours lists the names of colours.
func Colours() []string {
	return []string{"red", "green", "blue", "yellow", "orange", "purple", "black", "white", "grey"}
}

// colourOf returns the name that is nearest to the mean of a picture.
func colourOf(m image.Image) string {
	var sum [3]float64
	r := m.Bounds()
	across, down := 1+r.Dx()/64, 1+r.Dy()/64 // a sample is enough
	n := 0.0
	for y := r.Min.Y; y < r.Max.Y; y += down {
		for x := r.Min.X; x < r.Max.X; x += across {
			n++
			red, green, blue, _ := m.At(x, y).RGBA()
			sum[0], sum[1], sum[2] = sum[0]+float64(red>>8), sum[1]+float64(green>>8), sum[2]+float64(blue>>8)
		}
	}
	names := Colours()
	mixed := [...][3]float64{{220, 30, 30}, {30, 160, 60}, {30, 60, 220}, {240, 220, 40}, {240, 140, 30}, {140, 50, 170}, {15, 15, 15},
		{245, 245, 245}, {128, 128, 128}}
	best, least := "", 0.0
	for i, mix := range mixed {
		far := 0.0
		for k := range 3 {
			far += (sum[k]/n - mix[k]) * (sum[k]/n - mix[k])
		}
		if best == "" || far < least {
			best, least = names[i], far
		}
	}
	return best
}

// webpSize reads the three forms of the first chunk.
func webpSize(b []byte) (w, h int) {
	if len(b) < 30 {
		return 0, 0
	}
	switch string(b[12:16]) {
	case "VP8X":
		return 1 + int(b[24]) + int(b[25])<<8 + int(b[26])<<16, 1 + int(b[27]) + int(b[28])<<8 + int(b[29])<<16
	case "VP8L":
		bits := binary.LittleEndian.Uint32(b[21:])
		return 1 + int(bits&0x3fff), 1 + int(bits>>14&0x3fff)
	}
	return int(binary.LittleEndian.Uint16(b[26:])) & 0x3fff, int(binary.LittleEndian.Uint16(b[28:])) & 0x3fff
}

// wavSeconds divides the bytes of samples by those of a second.
func wavSeconds(b []byte) float64 {
	format, data := bytes.Index(b, []byte("fmt ")), bytes.Index(b, []byte("data"))
	if format < 0 || data < 0 || len(b) < format+20 || len(b) < data+8 {
		return 0
	}
	each := binary.LittleEndian.Uint32(b[format+16:])
	if each == 0 {
		return 0
	}
	return float64(min(int(binary.LittleEndian.Uint32(b[data+4:])), len(b)-data-8)) / float64(each)
}

// mp3Seconds walks over every frame.
func mp3Seconds(b []byte) (length float64) {
	at := 0
	if bytes.HasPrefix(b, []byte("ID3")) && len(b) > 10 {
		at = 10 + int(b[6])<<21 + int(b[7])<<14 + int(b[8])<<7 + int(b[9])
	}
	rates := [2][15]int{{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320},
		{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160}}
	hertz := [3]int{44100, 48000, 32000}
	for at+4 <= len(b) && b[at] == 0xff && b[at+1]&0xe0 == 0xe0 {
		version, rate, khz := b[at+1]>>3&3, int(b[at+2]>>4), int(b[at+2]>>2&3)
		if version == 1 || rate == 0 || rate == 15 || khz == 3 {
			break
		}
		samples, table, freq := 1152, 0, hertz[khz]
		if version != 3 {
			samples, table, freq = 576, 1, freq/2
			if version == 0 {
				freq /= 2
			}
		}
		length += float64(samples) / float64(freq)
		at += samples/8*rates[table][rate]*1000/freq + int(b[at+2]>>1&1)
	}
	return length
}

var leafPage = regexp.MustCompile(`/Type\s*/Page\b`)

// pagesOf counts the leaves among the objects of a document, and those in its packed streams.
func pagesOf(b []byte) int {
	n := len(leafPage.FindAll(b, -1))
	if n > 0 {
		return n
	}
	for rest := b; ; {
		_, after, ok := bytes.Cut(rest, []byte("stream"))
		if !ok {
			return n
		}
		rest = after
		z, err := zlib.NewReader(bytes.NewReader(bytes.TrimLeft(after, "\r\n")))
		if err != nil {
			continue
		}
		text, _ := io.ReadAll(io.LimitReader(z, 16<<20)) // what was read before a fault counts
		n += len(leafPage.FindAll(text, -1))
	}
}

// Words describes a thing as one who has looked at it.
func (t *Thing) Words(colour string) string {
	switch {
	case t.Kind == Document:
		return fmt.Sprintf("The document has %d pages (%s).", t.Pages, t.Sum)
	case t.Kind == Sound:
		return fmt.Sprintf("The recording is %.1f seconds long (%s).", t.Seconds, t.Sum)
	case colour != "":
		return fmt.Sprintf("The picture is %s, %d by %d pixels (%s).", colour, t.Width, t.Height, t.Sum)
	}
	return fmt.Sprintf("The picture has %d by %d pixels (%s).", t.Width, t.Height, t.Sum)
}
