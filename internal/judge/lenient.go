package judge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// A judge without structured output writes JSON almost as it should. This reader takes what can only be meant one way: commas
// before a closing bracket, line breaks inside strings, True, False and None. Everything else is as in the standard.

// object is a JSON object in the order it was written. Keys may occur twice.
type object []member

type member struct {
	key   string
	value any // string, json.Number, bool, nil, []any or object
}

const maxDepth = 64

// scanner reads one value of a text.
type scanner struct {
	text  string
	at    int
	depth int
}

// readObject reads the object that begins at a brace. It returns where reading stopped, behind the object or at what is wrong.
func readObject(text string, at int) (o object, end int, ok bool) {
	s := &scanner{text: text, at: at}
	o, ok = s.object()
	return o, s.at, ok
}

func (s *scanner) space() {
	for s.at < len(s.text) && strings.IndexByte(" \t\r\n", s.text[s.at]) >= 0 {
		s.at++
	}
}

// take goes on if the next character, white space aside, is this one.
func (s *scanner) take(c byte) bool {
	s.space()
	if s.at >= len(s.text) || s.text[s.at] != c {
		return false
	}
	s.at++
	return true
}

func (s *scanner) value() (any, bool) {
	s.space()
	if s.at >= len(s.text) {
		return nil, false
	}
	switch c := s.text[s.at]; {
	case c == '{':
		return s.object()
	case c == '[':
		return s.list()
	case c == '"':
		return s.string()
	case c == '-' || c >= '0' && c <= '9':
		return s.number()
	}
	return s.word()
}

func (s *scanner) word() (any, bool) {
	for _, w := range []struct {
		text  string
		value any
	}{{"true", true}, {"false", false}, {"null", nil}, {"True", true}, {"False", false}, {"None", nil}} {
		if strings.HasPrefix(s.text[s.at:], w.text) {
			s.at += len(w.text)
			return w.value, true
		}
	}
	return nil, false
}

func (s *scanner) object() (object, bool) {
	if s.depth++; s.depth > maxDepth || !s.take('{') {
		return nil, false
	}
	defer func() { s.depth-- }()
	o := object{}
	for {
		if s.take('}') {
			return o, true
		}
		if len(o) > 0 && !s.take(',') {
			return o, false
		}
		if len(o) > 0 && s.take('}') { // a comma before the end
			return o, true
		}
		s.space()
		key, ok := s.string()
		if !ok || !s.take(':') {
			return o, false
		}
		value, ok := s.value()
		if !ok {
			return o, false
		}
		o = append(o, member{key, value})
	}
}

func (s *scanner) list() ([]any, bool) {
	if s.depth++; s.depth > maxDepth || !s.take('[') {
		return nil, false
	}
	defer func() { s.depth-- }()
	list := []any{}
	for {
		if s.take(']') {
			return list, true
		}
		if len(list) > 0 && !s.take(',') {
			return list, false
		}
		if len(list) > 0 && s.take(']') {
			return list, true
		}
		value, ok := s.value()
		if !ok {
			return list, false
		}
		list = append(list, value)
	}
}

func (s *scanner) string() (string, bool) {
	if s.at >= len(s.text) || s.text[s.at] != '"' {
		return "", false
	}
	start := s.at
	plain := true
	for s.at++; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case c == '"':
			s.at++
			if plain {
				return valid8(s.text[start+1 : s.at-1]), true
			}
			return unquote(s.text[start:s.at])
		case c == '\\':
			plain = false
			s.at++
		case c < ' ':
			plain = false
		}
	}
	s.at = len(s.text)
	return "", false
}

// valid8 puts a mark in the place of every byte that is no text.
func valid8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

// unquote reads a string with escapes; control characters are kept as they are.
func unquote(quoted string) (string, bool) {
	var b bytes.Buffer
	for i := 0; i < len(quoted); i++ {
		c := quoted[i]
		switch {
		case c == '\\':
			b.WriteByte(c)
			if i++; i >= len(quoted) || quoted[i] < ' ' {
				return "", false
			}
			b.WriteByte(quoted[i])
		case c < ' ':
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteByte(c)
		}
	}
	var out string
	err := json.Unmarshal(b.Bytes(), &out)
	return out, err == nil
}

func (s *scanner) number() (json.Number, bool) {
	start := s.at
	for s.at < len(s.text) && strings.IndexByte("+-.eE0123456789", s.text[s.at]) >= 0 {
		s.at++
	}
	n := s.text[start:s.at]
	return json.Number(n), json.Valid([]byte(n))
}

// MarshalJSON writes the object in its own order; of a key that occurs twice, the first.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	seen := map[string]bool{}
	for _, m := range o {
		if seen[m.key] {
			continue
		}
		seen[m.key] = true
		key, err := json.Marshal(m.key)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	return []byte("{" + b.String() + "}"), nil
}
