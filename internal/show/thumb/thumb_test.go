package thumb

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"
)

func TestAPictureIsMadeSmall(t *testing.T) {
	t.Parallel()
	large := image.NewNRGBA(image.Rect(0, 0, 1000, 500))
	for x := range 500 { // red at the left, nothing at the right
		for y := range 500 {
			large.Set(x, y, color.NRGBA{200, 0, 0, 255})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, large); err != nil {
		t.Fatal(err)
	}
	var small bytes.Buffer
	if err := PNG(&small, bytes.NewReader(b.Bytes()), "image/png"); err != nil {
		t.Fatal(err)
	}
	got, err := png.Decode(&small)
	if err != nil || got.Bounds() != image.Rect(0, 0, 320, 160) {
		t.Fatalf("%v (%v)", got.Bounds(), err)
	}
	if l, r := color.RGBAModel.Convert(got.At(10, 80)), color.RGBAModel.Convert(got.At(300, 80)); l != (color.RGBA{200, 0, 0, 255}) ||
		r != (color.RGBA{255, 255, 255, 255}) {
		t.Errorf("left %v, right %v: want red and white", l, r)
	}
}

func TestNothingElseIsMade(t *testing.T) {
	t.Parallel()
	var j bytes.Buffer
	if err := jpeg.Encode(&j, image.NewGray(image.Rect(0, 0, 8, 8)), nil); err != nil {
		t.Fatal(err)
	}
	bomb := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\xff\xff\x00\x00\xff\xff\x08\x06\x00\x00\x00")
	for name, c := range map[string]struct {
		file, mime string
	}{
		"a script": {"<svg onload=alert(1)>", "image/svg+xml"}, "a PDF": {"%PDF-1.4", "application/pdf"},
		"a lie": {j.String(), "image/png"}, "a bomb": {string(bomb), "image/png"}, "nothing": {"", "image/gif"},
	} {
		var out bytes.Buffer
		if err := PNG(&out, strings.NewReader(c.file), c.mime); !errors.Is(err, ErrNone) || out.Len() > 0 {
			t.Errorf("%s: %d bytes, error %v", name, out.Len(), err)
		}
	}
}

func FuzzPNG(f *testing.F) {
	f.Add([]byte("GIF89a\x01\x00\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02"), 0)
	f.Add([]byte("\xff\xd8\xff\xc0"), 1)
	f.Fuzz(func(t *testing.T, file []byte, kind int) {
		var out bytes.Buffer
		mime := []string{"image/gif", "image/jpeg", "image/png"}[uint(kind)%3]
		if PNG(&out, bytes.NewReader(file), mime) != nil {
			return
		}
		c, err := png.DecodeConfig(&out)
		if err != nil || c.Width > Side || c.Height > Side {
			t.Errorf("%v (%v)", c, err)
		}
	})
}
