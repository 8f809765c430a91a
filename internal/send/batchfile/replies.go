package batchfile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"assay/internal/assay"
	"assay/internal/send/dialect"
	"assay/internal/study/catalog"
)

// Reply is one line of a provider's results, whatever program sent the request.
type Reply struct {
	Line    int    // from 1
	ID      string // the author's, as the line gives it back
	Outcome assay.Outcome

	What, Hint string // why the line cannot be read, and what to do about it; empty: it can
}

// Replies walks over the lines of a file of results. The form of each is recognised by its fields; a vendor, if one is
// named, must write that form. A line that cannot be read is handed on as such, and the walk goes on.
func Replies(ctx context.Context, r io.Reader, v *catalog.Vendor) iter.Seq2[Reply, error] {
	return func(yield func(Reply, error) bool) {
		var dec dialect.Decoder
		for l, err := range lines(&stoppable{ctx, r}) {
			if err != nil {
				yield(Reply{}, err)
				return
			}
			if !yield(readReply(&dec, l, v), nil) {
				return
			}
		}
	}
}

func readReply(dec *dialect.Decoder, l line, v *catalog.Vendor) Reply {
	out := Reply{Line: l.no}
	w, flaw := wireOf(l, v)
	if flaw != nil {
		out.What, out.Hint = flaw.what, flaw.hint
		return out
	}
	got := dec.Line(w, l.text)
	switch out.ID, out.Outcome = got.ID, got.Outcome; {
	case got.Malformed && got.ID == "":
		out.What, out.Hint = "the line has no custom_id and no key", "it cannot be told which request it answers"
	case got.Malformed:
		out.What = fmt.Sprintf("the line has no id in its place (%s)", assay.Clean(got.Note, maxShown))
	case strings.TrimSpace(got.ID) == "":
		out.What = "its id is blank"
	case len(got.ID) > maxID:
		out.What = fmt.Sprintf("its id has %d bytes, more than %d", len(got.ID), maxID)
	}
	return out
}

// maxShown bounds what a message quotes of a line.
const maxShown = 200

// wireOf finds in which form a line is written.
func wireOf(l line, v *catalog.Vendor) (assay.Wire, *flaw) {
	if l.long {
		return assay.Wire{}, flawf("", "the line has more than %d MB", maxLine>>20)
	}
	w, err := dialect.WireOf(l.text)
	switch {
	case errors.Is(err, dialect.ErrNoObject):
		return w, notJSON(l)
	case errors.Is(err, dialect.ErrRequest):
		return w, flawf("assay batch submit sends such a file; results are what the provider gave back", "%s", err)
	case err != nil:
		return w, flawf("want response, result or error", "%s", err)
	case v == nil:
		return w, nil
	}
	if resultShape(w.Carrier) != resultShape(v.Carrier) {
		return w, flawf("without --provider the form is recognised", "%s does not write results of this form", v.Name)
	}
	if v.Carrier != "" {
		w.Carrier = v.Carrier
	}
	w.ReasoningApart = v.ReasoningApart && string(w.Dialect) == v.DefaultAPI
	return w, nil
}

// resultShape returns the form of requests whose results are written as a carrier's are.
func resultShape(c assay.Carrier) Shape {
	if s := ShapeOf(catalog.Vendor{Carrier: c}); s != ShapeBare {
		return s
	}
	return ShapeCall
}

// Asked is one request of a file, as far as results need it.
type Asked struct {
	Line            int
	ID, Model, Text string // the text is that of the last turn

	What, Hint string // why the line cannot be read; empty: it can
}

// Requests walks over the requests of a file of any provider.
func Requests(ctx context.Context, r io.Reader) iter.Seq2[Asked, error] {
	return func(yield func(Asked, error) bool) {
		for l, err := range lines(&stoppable{ctx, r}) {
			if err != nil {
				yield(Asked{}, err)
				return
			}
			e, flaw := read(l)
			out := Asked{Line: l.no, ID: e.ID, Model: e.Model}
			switch {
			case flaw != nil:
				out.What, out.Hint = flaw.what, flaw.hint
			case e.ID == "":
				out.What, out.Hint = "the line has no key", "results cannot be matched with requests that have no ids"
			default:
				out.Text = lastText(e.Body)
			}
			if !yield(out, nil) {
				return
			}
		}
	}
}

// lastText returns the text of the last turn of a body.
func lastText(body []byte) string {
	var b struct {
		Messages []spoken        `json:"messages"`
		Contents []spoken        `json:"contents"`
		Input    json.RawMessage `json:"input"`
	}
	if json.Unmarshal(body, &b) != nil {
		return ""
	}
	messages := append(b.Messages, b.Contents...)
	if raw := bytes.TrimSpace(b.Input); len(raw) > 0 {
		var text string
		if json.Unmarshal(raw, &text) == nil {
			return text
		}
		var turns []spoken
		if json.Unmarshal(raw, &turns) == nil {
			messages = append(messages, turns...)
		}
	}
	if len(messages) == 0 {
		return ""
	}
	last := messages[len(messages)-1]
	var text string
	if json.Unmarshal(last.Content, &text) == nil {
		return text
	}
	var parts []part
	if json.Unmarshal(last.Content, &parts) != nil {
		parts = last.Parts
	}
	texts := make([]string, 0, len(parts))
	for _, p := range parts {
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

type spoken struct {
	Content json.RawMessage `json:"content"`
	Parts   []part          `json:"parts"`
}

type part struct {
	Text string `json:"text"`
}
