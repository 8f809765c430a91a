package assay

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
)

// Role is the author of a message in a conversation.
type Role string

// The roles of a conversation; the system text is not part of it.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// Message is one text of a conversation, or several parts in their order.
type Message struct {
	Role  Role
	Text  string
	Parts []Part // in the place of Text, where there are any
}

// Prompt is the input of a model: the system text, the long shared context that prompt caching covers, and the
// conversation, which ends with a user message. It does not depend on the lane, so that lanes share one prefix.
type Prompt struct {
	System   string
	Context  string // goes in front of the first user message
	Messages []Message
}

// Bytes returns how much text it has; media are no text.
func (p *Prompt) Bytes() int {
	n := len(p.System) + len(p.Context)
	for _, m := range p.Messages {
		if len(m.Parts) > 0 {
			n += bytesOf(m.Parts)
		} else {
			n += len(m.Text)
		}
	}
	return n
}

// Request is one complete question to one model.
type Request struct {
	Key    Key
	Lane   *Lane
	Wire   *Wire
	Prompt *Prompt
	Body   json.RawMessage // what is sent in the place of parameters and prompt, as its author wrote it; nil: made from them
	Shown  int64           // bytes of text that would count as many tokens as what it shows besides
}

// PromptBytes returns how much the model is shown.
func (r *Request) PromptBytes() int64 {
	if r.Body != nil {
		return int64(len(r.Body))
	}
	return int64(r.Prompt.Bytes()) + r.Shown
}

// Coordinates identify the question of a request. The same study gives the same coordinates, and so the same keys. A
// judge's request keeps those of the answer it reads, and adds its own.
type Coordinates struct {
	Stage    string
	Source   string // of a judge: the stage whose answers it reads; empty where items are compared
	Item     string // of a pair of items: the one shown first
	Lane     string // whose answer it is, or is read; of a pair of lanes: the one shown first; empty where items are compared
	Against  string // of a pair: the lane or item shown second
	Template string
	Turn     int
	Branch   string
	Draw     int

	Judge  string
	Prompt string // the name of the judge's prompt
	Trait  string
	Vote   int    // of the judge on the same answers, from 0
	Again  int    // how often the same was asked of a judge before, in vain
	By     string // the lane that is asked in the judge's place; empty: the judge's own
}

// Paired reports whether a judge is shown two texts.
func (c Coordinates) Paired() bool { return c.Against != "" }

// Pair returns the two names of a pair as they are shown: lanes, or items where items are compared. Both are empty where one
// answer is read.
func (c Coordinates) Pair() (first, second string) {
	switch {
	case c.Against == "":
		return "", ""
	case c.Lane == "":
		return c.Item, c.Against
	}
	return c.Lane, c.Against
}

// Subject returns the answer that a judge's request reads; of a pair of lanes, the one shown first.
func (c Coordinates) Subject() Coordinates {
	return Coordinates{Stage: c.Source, Item: c.Item, Lane: c.Lane, Template: c.Template, Turn: c.Turn, Branch: c.Branch, Draw: c.Draw}
}

// Opponent returns the answer of a pair of lanes that is shown second.
func (c Coordinates) Opponent() Coordinates {
	s := c.Subject()
	s.Lane = c.Against
	return s
}

// Answering returns the lane that answers the request: the judge's, or the one in its place, if one is asked.
func (c Coordinates) Answering() string {
	if c.By != "" {
		return c.By
	}
	if c.Judge != "" {
		return c.Judge
	}
	return c.Lane
}

// Key is the hash of a request's coordinates: no body and no time is in it.
type Key [16]byte

// Key hashes the coordinates. Every field is written with its length, so that no two different sets run together; those of
// a judge follow if there are any.
func (c Coordinates) Key() Key {
	buf := make([]byte, 0, 256)
	text := func(s string) {
		buf = binary.AppendUvarint(buf, uint64(len(s)))
		buf = append(buf, s...)
	}
	for _, s := range []string{c.Stage, c.Item, c.Lane, c.Template, c.Branch, c.Against, c.Judge} {
		text(s)
	}
	buf = binary.AppendVarint(buf, int64(c.Turn))
	buf = binary.AppendVarint(buf, int64(c.Draw))
	if c.Source != "" || c.Prompt != "" || c.Trait != "" || c.Vote != 0 || c.Again > 0 {
		text(c.Source)
		text(c.Prompt)
		text(c.Trait)
		buf = binary.AppendVarint(buf, int64(c.Vote))
		if c.Again > 0 {
			buf = binary.AppendVarint(buf, int64(c.Again))
			text(c.By)
		}
	}
	sum := sha256.Sum256(buf)
	return Key(sum[:16])
}

// Ref names a request of a run by its key, and by its item, in whose order it is found.
type Ref struct {
	Item string
	Key  Key
}

// Ref returns the name of the request.
func (c Coordinates) Ref() Ref { return Ref{c.Item, c.Key()} }

const (
	keyLen      = 26 // base32 of 16 bytes
	nonceLen    = 10
	customIDLen = 1 + nonceLen + 1 + keyLen
)

const base32Letters = "abcdefghijklmnopqrstuvwxyz234567"

var base32Lower = base32.NewEncoding(base32Letters).WithPadding(base32.NoPadding)

// String returns the key in 26 characters of lower-case base32.
func (k Key) String() string { return base32Lower.EncodeToString(k[:]) }

// ParseKey reads what String wrote.
func ParseKey(s string) (Key, error) {
	var k Key
	if len(s) != keyLen {
		return k, fmt.Errorf("key %q: want %d characters, got %d", s, keyLen, len(s))
	}
	if _, err := base32Lower.Decode(k[:], []byte(s)); err != nil {
		return k, fmt.Errorf("key %q: %w", s, err)
	}
	if k.String() != s { // the last character carries two unused bits
		return k, fmt.Errorf("key %q: not in canonical form", s)
	}
	return k, nil
}

// shortKey is how many characters of a key tables show: enough that two of a million requests hardly ever share them.
const shortKey = 10

// LeastKey is how many characters of a key a person has to write.
const LeastKey = 4

// Short returns the beginning of the key, as tables show it.
func (k Key) Short() string { return k.String()[:shortKey] }

// KeyRange returns the first and the last key that begin with a text of at least LeastKey characters.
func KeyRange(begin string) (first, last Key, err error) {
	if len(begin) < LeastKey || len(begin) > keyLen || strings.Trim(begin, base32Letters) != "" {
		return first, last, fmt.Errorf("%q is not the beginning of a key: want %d to %d of the characters a to z and 2 to 7", begin,
			LeastKey, keyLen)
	}
	_, err = base32Lower.Decode(first[:], []byte(begin+strings.Repeat("a", keyLen-len(begin))))
	if err == nil {
		_, err = base32Lower.Decode(last[:], []byte(begin+strings.Repeat("7", keyLen-len(begin))))
	}
	return first, last, err
}

// Nonce distinguishes one segment's custom ids from another's: a retry is the same key under a new nonce.
type Nonce string

// PlanNonce is the placeholder, in a plan, of the nonce that a segment gets when it is staged; it has the same length.
const PlanNonce Nonce = "plan222222"

// NonceFrom makes a nonce of ten base32 characters from at least seven random bytes.
func NonceFrom(random [7]byte) Nonce {
	return Nonce(base32Lower.EncodeToString(random[:])[:nonceLen])
}

// CustomID returns the id a provider sees: legal at every provider, and opaque.
func CustomID(n Nonce, k Key) string { return "a" + string(n) + "-" + k.String() }

// AppendCustomID appends what CustomID returns.
func AppendCustomID(dst []byte, n Nonce, k Key) []byte {
	dst = append(dst, 'a')
	dst = append(dst, n...)
	dst = append(dst, '-')
	return base32Lower.AppendEncode(dst, k[:])
}

// ParseCustomID takes a custom id apart. Ids that are not ours are an error, never a guess.
func ParseCustomID(s string) (Nonce, Key, error) {
	if len(s) != customIDLen || s[0] != 'a' || s[1+nonceLen] != '-' {
		return "", Key{}, fmt.Errorf("custom id %q: not one of ours", s)
	}
	n := s[1 : 1+nonceLen]
	if strings.Trim(n, base32Letters) != "" {
		return "", Key{}, fmt.Errorf("custom id %q: not one of ours", s)
	}
	k, err := ParseKey(s[2+nonceLen:])
	return Nonce(n), k, err
}
