package worlds

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"image"
	"image/color"
	"image/draw"
	"image/png"
)

// colours of pictures; a further one of them is that of before, a little lighter.
var colours = []color.RGBA{{200, 0, 0, 255}, {0, 160, 0, 255}, {0, 0, 200, 255}}

// picture returns the file of an item's picture.
func (it Item) picture() []byte {
	c := colours[it.Colour%len(colours)]
	c.R += byte(it.Colour / len(colours))
	img := image.NewRGBA(image.Rect(0, 0, 32, 32))
	draw.Draw(img, img.Bounds(), &image.Uniform{c}, image.Point{}, draw.Src)
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err) // a buffer takes everything
	}
	return b.Bytes()
}

// shown is what a model sees beside the question about an item, as the simulator tells it.
func (s Study) shown(it Item) string {
	if !s.Pictures {
		return ""
	}
	sum := sha256.Sum256(it.picture())
	return hex.EncodeToString(sum[:])[:8]
}
