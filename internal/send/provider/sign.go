package provider

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
)

// Signer signs a request as a whole: it has all its headers by then, and the body's digest is known.
type Signer func(ctx context.Context, req *http.Request, body [sha256.Size]byte) error

// Signing returns a client that signs its calls instead of giving them a key.
func (c *Client) Signing(s Signer) *Client {
	c.sign, c.auth = s, Bearer(Secret{})
	return c
}

// sum finds out the digest of the body, and leaves the body at its beginning.
func (call *Call) sum() error {
	if call.SHA256 != "" {
		_, err := hex.Decode(call.digest[:], []byte(call.SHA256))
		return err
	}
	h := sha256.New()
	if call.Body != nil && call.Body != http.NoBody {
		body, ok := call.Body.(io.ReadSeeker)
		if !ok {
			return errors.New("the body of a signed call cannot be read twice")
		}
		if _, err := io.Copy(h, body); err != nil {
			return err
		}
		if _, err := body.Seek(0, io.SeekStart); err != nil {
			return err
		}
	}
	h.Sum(call.digest[:0])
	return nil
}
