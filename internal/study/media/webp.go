package media

import (
	"encoding/binary"
	"errors"
	"image"
	"io"
)

var errWebP = errors.New("no size in the first chunk of the WebP file")

// webpConfig reads the size of a picture out of the first chunk of a WebP file.
func webpConfig(r io.Reader) (image.Config, error) {
	var b [30]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return image.Config{}, err
	}
	le := binary.LittleEndian
	switch string(b[12:16]) {
	case "VP8 ": // a key frame: three bytes, a start code, then 14 bits each
		if string(b[23:26]) != "\x9d\x01\x2a" {
			return image.Config{}, errWebP
		}
		return image.Config{Width: int(le.Uint16(b[26:]) & 0x3fff), Height: int(le.Uint16(b[28:]) & 0x3fff)}, nil
	case "VP8L":
		if b[20] != 0x2f {
			return image.Config{}, errWebP
		}
		bits := le.Uint32(b[21:])
		return image.Config{Width: int(bits&0x3fff) + 1, Height: int(bits>>14&0x3fff) + 1}, nil
	case "VP8X":
		three := func(p []byte) int { return int(p[0]) | int(p[1])<<8 | int(p[2])<<16 }
		return image.Config{Width: three(b[24:]) + 1, Height: three(b[27:]) + 1}, nil
	}
	return image.Config{}, errWebP
}
