package assay

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"
)

// digestSize is how many bytes of a hash a digest has.
const digestSize = 16

// Digest returns a hash of what a request asks: requests with equal digests ask the same of the same model at the same
// address, as the same draw. Params are the JSON of its lane's parameters, which many requests share.
func (r *Request) Digest(baseURL string, params []byte, draw int) []byte {
	h := sha256.New()
	text := func(s string) {
		var n [binary.MaxVarintLen64]byte
		h.Write(n[:binary.PutUvarint(n[:], uint64(len(s)))])
		h.Write([]byte(s))
	}
	text(baseURL)
	text(r.Lane.Model)
	text(r.Lane.API)
	h.Write(params)
	if r.Body != nil {
		text(string(r.Body))
	} else {
		text(r.Prompt.System)
		text(r.Prompt.Context)
		for _, m := range r.Prompt.Messages {
			if len(m.Parts) > 0 {
				text(string(m.Role) + " parts " + strconv.Itoa(len(m.Parts))) // no role is called so
				hashParts(text, m.Parts)
				continue
			}
			text(string(m.Role))
			text(m.Text)
		}
	}
	text(strconv.Itoa(draw))
	return h.Sum(nil)[:digestSize]
}
