// Package dialect turns a request into the bytes a provider reads, and a provider's bytes into an outcome.
//
// A dialect is the shape of a body (one file each: chat, responses, messages, generate, ollama, converse); a carrier is
// the line, or the element of a document, in which a batch carries one body. An assay.Wire names those that a lane
// uses.
package dialect

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"assay/internal/assay"
	"assay/internal/assay/jsontext"
)

// AppendBody appends the body of req (its lane's parameters and its prompt, in the form of its wire) to dst. A setting
// that a dialect cannot express is an error, never dropped. A body that the request brings along goes out unchanged.
// After an error dst is returned unchanged.
func AppendBody(dst []byte, req *assay.Request) ([]byte, error) {
	return appendBody(dst, req, "")
}

// appendBody writes the body; a label is the custom id that a Vertex line carries inside its request.
func appendBody(dst []byte, req *assay.Request, label string) ([]byte, error) {
	if req.Body != nil {
		return appendGiven(dst, req.Body, label)
	}
	if req.Lane == nil || req.Wire == nil || req.Prompt == nil {
		return dst, errors.New("write body: the request has no lane, no wire or no prompt")
	}
	w := body{b: dst, params: &req.Lane.Params, wire: req.Wire, prompt: req.Prompt, model: req.Lane.Model, label: label}
	if err := w.write(); err != nil {
		return dst, fmt.Errorf("write %s body: %w", req.Wire.Dialect, err)
	}
	return w.b, nil
}

func (w *body) write() error {
	if err := w.checkPrompt(); err != nil {
		return err
	}
	w.b = append(w.b, '{')
	var err error
	switch w.wire.Dialect {
	case assay.DialectChat:
		err = w.writeChat()
	case assay.DialectResponses:
		err = w.writeResponses()
	case assay.DialectMessages:
		err = w.writeMessages()
	case assay.DialectGenerate:
		err = w.writeGenerate()
	case assay.DialectOllama:
		err = w.writeOllama()
	case assay.DialectConverse:
		err = w.writeConverse()
	default:
		err = errors.New("no such dialect")
	}
	if err == nil {
		err = w.writeExtra()
	}
	w.b = append(w.b, '}')
	return errors.Join(err, w.err)
}

func (w *body) checkPrompt() error {
	user := false
	for i, m := range w.prompt.Messages {
		switch m.Role {
		case assay.RoleUser:
			user = true
		case assay.RoleAssistant:
		default:
			return fmt.Errorf("message %d: no role %q", i+1, m.Role)
		}
	}
	if !user {
		return errors.New("the prompt has no user message")
	}
	return nil
}

// firstUser returns the index of the message after the context; -1 without a context.
func (w *body) firstUser() int {
	if w.prompt.Context == "" {
		return -1
	}
	for i, m := range w.prompt.Messages {
		if m.Role == assay.RoleUser {
			return i
		}
	}
	return -1
}

// speech writes one message's text as a JSON string, behind the context where the message is the first of the user.
func (w *body) speech(i, first int) {
	w.b = append(w.b, '"')
	if i == first {
		w.b = jsontext.AppendText(w.b, w.prompt.Context)
		w.b = append(w.b, `\n\n`...)
	}
	w.b = jsontext.AppendText(w.b, w.prompt.Messages[i].Text)
	w.b = append(w.b, '"')
}

// cacheKey names the shared prefix, so that requests with the same one are routed to the same cache.
func (w *body) cacheKey() {
	if !w.wire.CacheKey || w.prompt.Context == "" {
		return
	}
	mark := len(w.b) // the tail of the buffer serves as scratch: no allocation
	w.b = append(w.b, w.prompt.System...)
	w.b = append(w.b, w.prompt.Context...)
	sum := sha256.Sum256(w.b[mark:])
	w.b = w.b[:mark]
	w.field("prompt_cache_key")
	w.b = append(w.b, '"')
	w.b = hex.AppendEncode(w.b, sum[:8])
	w.b = append(w.b, '"')
}

// or returns the wire's own name for a field, or else the dialect's.
func or(name, fallback string) string {
	if name != "" {
		return name
	}
	return fallback
}
