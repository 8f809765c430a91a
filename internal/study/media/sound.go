package media

import (
	"bufio"
	"encoding/binary"
	"io"
	"time"
)

// seconds returns a length of n units, so many a second; 0 where that is unknown.
func seconds(n, each uint64) time.Duration {
	if each == 0 || n/each > uint64(100*24*time.Hour/time.Second) { // longer than any sound
		return 0
	}
	return time.Duration(float64(n) / float64(each) * float64(time.Second))
}

// wavLength reads the chunks of a WAV file up to its samples.
func wavLength(r *bufio.Reader) time.Duration {
	if _, err := r.Discard(12); err != nil {
		return 0
	}
	rate := uint64(0)
	for {
		var head [8]byte
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return 0
		}
		size := int64(binary.LittleEndian.Uint32(head[4:]))
		switch string(head[:4]) {
		case "fmt ":
			var f [16]byte
			if _, err := io.ReadFull(r, f[:]); err != nil || size < 16 {
				return 0
			}
			rate = uint64(binary.LittleEndian.Uint32(f[8:]))
			size -= 16
		case "data":
			if size == 0xffffffff { // written by a stream that did not know
				return 0
			}
			return seconds(uint64(size), rate)
		}
		if _, err := io.CopyN(io.Discard, r, size+size%2); err != nil {
			return 0
		}
	}
}

// flacLength reads the number of samples out of the first block of a FLAC file.
func flacLength(r *bufio.Reader) time.Duration {
	var b [26]byte
	if _, err := io.ReadFull(r, b[:]); err != nil || b[4]&0x7f != 0 {
		return 0
	}
	rate := uint64(b[18])<<12 | uint64(b[19])<<4 | uint64(b[20])>>4
	samples := uint64(b[21]&0x0f)<<32 | uint64(binary.BigEndian.Uint32(b[22:]))
	return seconds(samples, rate)
}

// frame is the header of a frame of an MP3 file.
type frame struct {
	bytes   int // of the whole frame
	bits    int // a second
	samples int
	rate    int
	side    int // bytes between the header and what an encoder may have written about the file
}

// mp3Frame reads the header of a frame of layer III.
func mp3Frame(b []byte) (frame, bool) {
	if len(b) < 4 || b[0] != 0xff || b[1]&0xe6 != 0xe2 {
		return frame{}, false
	}
	version := b[1] >> 3 & 3 // 3: MPEG 1, 2: MPEG 2, 0: MPEG 2.5
	rate, slot := b[2]>>2&3, b[2]>>4
	if version == 1 || rate == 3 || slot == 0 || slot == 15 {
		return frame{}, false
	}
	f := frame{samples: 1152, rate: []int{44100, 48000, 32000}[rate], side: 32}
	kbits := []int{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320}
	if version != 3 {
		kbits = []int{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160}
		f.samples, f.rate, f.side = 576, f.rate/2, 17
	}
	if version == 0 {
		f.rate /= 2
	}
	if b[3]>>6 == 3 { // one channel
		f.side = map[int]int{32: 17, 17: 9}[f.side]
	}
	f.bits = kbits[slot] * 1000
	f.bytes = f.samples / 8 * f.bits / f.rate
	f.bytes += int(b[2] >> 1 & 1)
	return f, true
}

// mp3Length returns how long an MP3 file plays, as its encoder noted it in the first frame. Without such a note it returns minus the
// bytes a second if the first frames have one rate, and 0 if they have several.
func mp3Length(r *bufio.Reader) time.Duration {
	if tag, err := r.Peek(10); err == nil && string(tag[:3]) == "ID3" {
		size := int64(tag[6]&0x7f)<<21 | int64(tag[7]&0x7f)<<14 | int64(tag[8]&0x7f)<<7 | int64(tag[9]&0x7f)
		if _, err := io.CopyN(io.Discard, r, 10+size); err != nil {
			return 0
		}
	}
	rate := 0
	for range 20 {
		b, err := r.Peek(200)
		if err != nil && len(b) < 4 {
			break
		}
		f, ok := mp3Frame(b)
		if !ok {
			break
		}
		if rate == 0 {
			if n := noted(b, f); n > 0 {
				return seconds(uint64(n)*uint64(f.samples), uint64(f.rate))
			}
		} else if rate != f.bits {
			return 0
		}
		rate = f.bits
		if _, err := io.CopyN(io.Discard, r, int64(f.bytes)); err != nil {
			break
		}
	}
	return -time.Duration(rate / 8)
}

// noted returns the number of frames that an encoder wrote into the first one; 0: it wrote none.
func noted(b []byte, f frame) uint32 {
	at := 4 + f.side
	if len(b) >= at+12 && (string(b[at:at+4]) == "Xing" || string(b[at:at+4]) == "Info") && b[at+7]&1 == 1 {
		return binary.BigEndian.Uint32(b[at+8:])
	}
	if at = 36; len(b) >= at+18 && string(b[at:at+4]) == "VBRI" {
		return binary.BigEndian.Uint32(b[at+14:])
	}
	return 0
}
