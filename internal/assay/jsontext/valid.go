package jsontext

// Valid reports whether raw is one JSON value, strictly, and not nested beyond measure. It needs no memory, unlike
// encoding/json: every request is checked with it.
func Valid(raw []byte) bool {
	rest, ok := validValue(SkipSpace(raw), 0)
	return ok && len(SkipSpace(rest)) == 0
}

// validValue skips the value at the front of raw and returns the rest.
func validValue(raw []byte, depth int) (rest []byte, ok bool) {
	if len(raw) == 0 || depth > maxDepth {
		return raw, false
	}
	switch raw[0] {
	case '{':
		return validList(raw[1:], '}', depth+1)
	case '[':
		return validList(raw[1:], ']', depth+1)
	case '"':
		return validString(raw[1:])
	case 't':
		return validWord(raw, "true")
	case 'f':
		return validWord(raw, "false")
	case 'n':
		return validWord(raw, "null")
	}
	return validNumber(raw)
}

// validList reads members or elements up to their closing bracket.
func validList(raw []byte, end byte, depth int) (rest []byte, ok bool) {
	raw = SkipSpace(raw)
	if len(raw) > 0 && raw[0] == end {
		return raw[1:], true
	}
	for {
		if end == '}' {
			if len(raw) == 0 || raw[0] != '"' {
				return raw, false
			}
			if raw, ok = validString(raw[1:]); !ok {
				return raw, false
			}
			if raw = SkipSpace(raw); len(raw) == 0 || raw[0] != ':' {
				return raw, false
			}
			raw = SkipSpace(raw[1:])
		}
		if raw, ok = validValue(raw, depth); !ok {
			return raw, false
		}
		raw = SkipSpace(raw)
		switch {
		case len(raw) > 0 && raw[0] == end:
			return raw[1:], true
		case len(raw) > 0 && raw[0] == ',':
			raw = SkipSpace(raw[1:])
		default:
			return raw, false
		}
	}
}

// validString reads a string from behind its opening quote.
func validString(raw []byte) (rest []byte, ok bool) {
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '"':
			return raw[i+1:], true
		case c < ' ':
			return raw, false
		case c == '\\':
			if i+1 == len(raw) || meaning(raw[i+1]) == 0 && hex4(raw[i:]) < 0 {
				return raw, false
			}
			i++
		}
	}
	return raw, false
}

func validWord(raw []byte, word string) (rest []byte, ok bool) {
	if len(raw) < len(word) || string(raw[:len(word)]) != word {
		return raw, false
	}
	return raw[len(word):], true
}

func validNumber(raw []byte) (rest []byte, ok bool) {
	if raw[0] != '-' && (raw[0] < '0' || raw[0] > '9') {
		return raw, false
	}
	end, _, ok := numberEnd(raw, 0)
	return raw[end:], ok
}
