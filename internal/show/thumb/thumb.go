// Package thumb makes small pictures of pictures. What it gives are pixels that it has painted itself: nothing else of a foreign
// file reaches a browser.
package thumb

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
)

// Side is the most pixels that a small picture has at its longer side.
const Side = 320

// maxPixels bounds the pictures that are decoded: four bytes for each are held.
const maxPixels = 25_000_000

// ErrNone is the error where no small picture is made: the type is another, or the picture is too large.
var ErrNone = errors.New("no small picture can be made of it")

// Makes reports whether small pictures are made of files of a type and size.
func Makes(mime string, width, height int) bool {
	return decoder(mime) != nil && width > 0 && height > 0 && width*height <= maxPixels
}

func decoder(mime string) func(io.Reader) (image.Image, error) {
	switch mime {
	case "image/png":
		return png.Decode
	case "image/jpeg":
		return jpeg.Decode
	case "image/gif":
		return gif.Decode
	}
	return nil
}

// PNG writes a small picture of a file as PNG, at most Side pixels wide and high, on white.
func PNG(w io.Writer, file io.ReadSeeker, mime string) error {
	img, err := small(file, mime, Side)
	if err != nil {
		return err
	}
	return png.Encode(w, img)
}

// JPEG writes a small picture of a file as JPEG, at most so many pixels wide and high, on white.
func JPEG(w io.Writer, file io.ReadSeeker, mime string, side int) error {
	img, err := small(file, mime, side)
	if err != nil {
		return err
	}
	return jpeg.Encode(w, img, nil)
}

func small(file io.ReadSeeker, mime string, side int) (*image.RGBA, error) {
	decode := decoder(mime)
	if decode == nil {
		return nil, ErrNone
	}
	c, _, err := image.DecodeConfig(file)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNone, err)
	}
	if !Makes(mime, c.Width, c.Height) {
		return nil, ErrNone
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	img, err := decode(file)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNone, err)
	}
	return shrink(img, side), nil
}

// Size returns the size of the small picture of one of a size, at most so many pixels wide and high.
func Size(w, h, side int) (int, int) {
	long := max(w, h)
	if long <= side {
		return w, h
	}
	return max(1, w*side/long), max(1, h*side/long)
}

// shrink returns a picture of which each pixel is the mean of those that it stands for, on white.
func shrink(from image.Image, side int) *image.RGBA {
	b := from.Bounds()
	w, h := Size(b.Dx(), b.Dy(), side)
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		y0, y1 := b.Min.Y+y*b.Dy()/h, b.Min.Y+(y+1)*b.Dy()/h
		for x := range w {
			x0, x1 := b.Min.X+x*b.Dx()/w, b.Min.X+(x+1)*b.Dx()/w
			out.SetRGBA(x, y, mean(from, image.Rect(x0, y0, max(x1, x0+1), max(y1, y0+1))))
		}
	}
	return out
}

// mean returns the colour of a part of a picture. Of large parts some pixels stand for all.
func mean(from image.Image, part image.Rectangle) color.RGBA {
	step := max(1, part.Dx()/4, part.Dy()/4)
	var r, g, b, n uint64
	for y := part.Min.Y; y < part.Max.Y; y += step {
		for x := part.Min.X; x < part.Max.X; x += step {
			cr, cg, cb, ca := from.At(x, y).RGBA()
			white := uint64(0xffff - ca) // what shows through
			r, g, b, n = r+uint64(cr)+white, g+uint64(cg)+white, b+uint64(cb)+white, n+1
		}
	}
	one := func(sum uint64) uint8 { return uint8(min(sum/n, 0xffff) >> 8) }
	return color.RGBA{one(r), one(g), one(b), 255}
}
