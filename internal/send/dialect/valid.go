package dialect

// valid reports whether raw is one JSON value, strictly, and not nested beyond measure. It stands here, and not in its
// place in the standard library, because it needs no memory: it is asked for every request.
func valid(raw []byte) bool {
	rest, ok := validValue(skipSpace(raw), 0)
	return ok && len(skipSpace(rest)) == 0
}

// validValue returns what stands behind the value at the front of raw.
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
	raw = skipSpace(raw)
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
			if raw = skipSpace(raw); len(raw) == 0 || raw[0] != ':' {
				return raw, false
			}
			raw = skipSpace(raw[1:])
		}
		if raw, ok = validValue(raw, depth); !ok {
			return raw, false
		}
		raw = skipSpace(raw)
		switch {
		case len(raw) > 0 && raw[0] == end:
			return raw[1:], true
		case len(raw) > 0 && raw[0] == ',':
			raw = skipSpace(raw[1:])
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
	if raw[0] == '-' {
		raw = raw[1:]
	}
	if len(raw) > 0 && raw[0] == '0' {
		raw = raw[1:]
	} else if raw, ok = digits(raw); !ok {
		return raw, false
	}
	if len(raw) > 0 && raw[0] == '.' {
		if raw, ok = digits(raw[1:]); !ok {
			return raw, false
		}
	}
	if len(raw) > 0 && (raw[0] == 'e' || raw[0] == 'E') {
		raw = raw[1:]
		if len(raw) > 0 && (raw[0] == '+' || raw[0] == '-') {
			raw = raw[1:]
		}
		return digits(raw)
	}
	return raw, true
}

// digits reads at least one.
func digits(raw []byte) (rest []byte, ok bool) {
	i := 0
	for i < len(raw) && '0' <= raw[i] && raw[i] <= '9' {
		i++
	}
	return raw[i:], i > 0
}
