package dialect

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"assay/internal/assay"
	"assay/internal/assay/jsontext"
)

// Decoder reads replies. It reuses its memory from one to the next, so it must not be used by two goroutines at once;
// the zero value is ready. What it returns is the caller's own and survives the bytes it was read from.
type Decoder struct {
	tree    jsontext.Tree
	scratch []byte   // a string without its escapes
	texts   []string // the parts of the current reply's answer
	thought []string // … and of its thoughts
	note    string   // note of the reader of the current reply

	finish, model, tier string // the last of each: most replies repeat them
}

// Body reads the body of a successful reply (HTTP 2xx).
func (d *Decoder) Body(dialect assay.Dialect, body []byte) assay.Outcome {
	defer d.release()
	d.note = ""
	v, err := d.parse(body)
	if err != nil {
		return failed(assay.Outcome{}, unreadable("unreadable_reply", err.Error()+": "+assay.Clean(head(body), 200)))
	}
	return d.reply(dialect, v, reasoningWithin)
}

func (d *Decoder) reply(dialect assay.Dialect, v jsontext.Value, r reasoning) assay.Outcome {
	switch dialect {
	case assay.DialectChat:
		return d.readChat(v, r)
	case assay.DialectResponses:
		return d.readResponses(v, r)
	case assay.DialectMessages:
		return d.readMessages(v)
	case assay.DialectGenerate:
		return d.readGenerate(v)
	case assay.DialectOllama:
		return d.readOllama(v)
	case assay.DialectConverse:
		return d.readConverse(v)
	case assay.DialectData:
		return d.readData(v)
	}
	return failed(assay.Outcome{}, unreadable("no_dialect", "no dialect "+string(dialect)))
}

// stop is why a reply ended, in our words.
type stop int

const (
	stopWhole stop = iota
	stopCut
	stopRefused
)

// ended gives a reply without a fault its ending.
func ended(o assay.Outcome, why stop) assay.Outcome {
	switch {
	case why == stopRefused:
		o.Ending = assay.Refused
	case strings.TrimSpace(o.Text) == "" && len(o.Calls) == 0:
		o.Ending = assay.Empty
	case why == stopCut:
		o.Ending = assay.Cut
	default:
		o.Ending = assay.Answered
	}
	return o
}

// failed gives a reply with a fault its ending.
func failed(o assay.Outcome, f assay.Fault) assay.Outcome {
	o.Ending = EndingOf(f)
	o.Fault = &f
	return o
}

// Unreadable reports whether a fault is that of bytes which we cannot make sense of.
func Unreadable(f assay.Fault) bool {
	switch f.Code {
	case "unreadable_reply", "no_choices", "no_content", "no_response", "no_candidates", "no_message", "no_output", "no_dialect":
		return f.Class == assay.FaultUnknown && f.Status == 0
	}
	return false
}

// unreadable returns the fault of bytes that we cannot make sense of.
func unreadable(code, message string) assay.Fault {
	return assay.Fault{Class: assay.FaultUnknown, Code: code, Message: assay.Clean(message, maxMessage)}
}

// What a reply needed beyond this is not kept for the next.
const (
	keepScratch = 1 << 20
	keepNodes   = 1 << 15
)

// parse parses one reply. The values live until the next call.
func (d *Decoder) parse(b []byte) (jsontext.Value, error) {
	d.tree.Skip = ""
	return d.tree.Parse(bytes.TrimPrefix(b, []byte("\ufeff")))
}

// release lets go of a reply, and of memory that few replies need.
func (d *Decoder) release() {
	d.tree.Release(keepNodes)
	if cap(d.scratch) > keepScratch {
		d.scratch = nil
	}
	if cap(d.texts)+cap(d.thought) > keepNodes {
		d.texts, d.thought = nil, nil
	}
}

// text returns a string value; anything else is "". Broken UTF-8 becomes U+FFFD.
func (d *Decoder) text(v jsontext.Value) string {
	b := d.bytes(v)
	if !utf8.Valid(b) {
		b = bytes.ToValidUTF8(b, []byte("\ufffd"))
	}
	return string(b)
}

// bytes returns a string value without its escapes, until the next call; anything else is nil.
func (d *Decoder) bytes(v jsontext.Value) []byte {
	if !v.Is(jsontext.Text) {
		return nil
	}
	b := v.Source()
	if bytes.IndexByte(b, '\\') >= 0 {
		d.scratch = jsontext.AppendUnescaped(d.scratch[:0], b)
		return d.scratch
	}
	return b
}

// word returns a short string value: a name or an id. A longer one is cut.
func (d *Decoder) word(v jsontext.Value) string {
	return string(bytes.ToValidUTF8(cut(d.bytes(v), maxWord), []byte("\ufffd")))
}

const maxWord = 512

// same returns a word that most replies repeat: the last one is used again.
func (d *Decoder) same(last *string, v jsontext.Value) string {
	if b := d.bytes(v); string(b) != *last {
		*last = d.word(v)
	}
	return *last
}

// addText adds a part of the answer; addThought adds a part of the thoughts.
func (d *Decoder) addText(part string)    { d.texts = append(d.texts, part) }
func (d *Decoder) addThought(part string) { d.thought = append(d.thought, part) }

// flush returns the joined parts of the answer, and those of the thoughts with a separator, and clears them.
func (d *Decoder) flush(separator string) (text, thoughts string) {
	text = strings.Join(d.texts, "")
	thoughts = strings.Join(slices.DeleteFunc(d.thought, func(s string) bool { return s == "" }), separator)
	clear(d.texts)
	clear(d.thought)
	d.texts, d.thought = d.texts[:0], d.thought[:0]
	return text, thoughts
}

// paragraphs separates the thoughts of a reply that has several.
const paragraphs = "\n\n"

func head(b []byte) string { return string(b[:min(len(b), 1000)]) }
