package jsontext

import "bytes"

// Members calls f for every member of a JSON object, the name as written between its quotes. It returns false, without
// a call, if raw is no JSON object. Nothing is copied: it is for lines that are read by the million.
func Members(raw []byte, f func(name, value []byte)) bool {
	if raw = SkipSpace(raw); len(raw) == 0 || raw[0] != '{' || !Valid(raw) {
		return false
	}
	_ = EachMember(raw, func(name, value []byte) error { f(name, value); return nil }) // f has no errors
	return true
}

// Named reports whether a name in its JSON form equals a word.
func Named(key []byte, word string) bool {
	if bytes.IndexByte(key, '\\') >= 0 {
		key = AppendUnescaped(nil, key)
	}
	return string(key) == word
}

// HasMember reports whether an object has one of some members.
func HasMember(raw []byte, names ...string) bool {
	found := false
	Members(raw, func(name, value []byte) {
		for _, n := range names {
			found = found || Named(name, n) && string(value) != "null"
		}
	})
	return found
}
