package jsontext

// Valid reports whether raw is one JSON value by the grammar of RFC 8259, at most maxDepth deep. It allocates nothing: every
// request is checked with it. Unlike Parser it lets repeated names, NUL and half characters pass.
func Valid(raw []byte) bool {
	rest, ok := skipValue(SkipSpace(raw), 0)
	return ok && len(SkipSpace(rest)) == 0
}

// skipValue skips the value at the front of raw and returns the rest.
func skipValue(raw []byte, depth int) (rest []byte, ok bool) {
	if len(raw) == 0 || depth > maxDepth {
		return raw, false
	}
	switch raw[0] {
	case '{':
		return skipMembers(raw[1:], '}', depth+1)
	case '[':
		return skipMembers(raw[1:], ']', depth+1)
	case '"':
		return skipString(raw[1:])
	case 't':
		return skipWord(raw, "true")
	case 'f':
		return skipWord(raw, "false")
	case 'n':
		return skipWord(raw, "null")
	}
	return skipNumber(raw)
}

// skipMembers skips members or elements and their closing bracket, and returns the rest.
func skipMembers(raw []byte, end byte, depth int) (rest []byte, ok bool) {
	raw = SkipSpace(raw)
	if len(raw) > 0 && raw[0] == end {
		return raw[1:], true
	}
	for {
		if end == '}' {
			if len(raw) == 0 || raw[0] != '"' {
				return raw, false
			}
			if raw, ok = skipString(raw[1:]); !ok {
				return raw, false
			}
			if raw = SkipSpace(raw); len(raw) == 0 || raw[0] != ':' {
				return raw, false
			}
			raw = SkipSpace(raw[1:])
		}
		if raw, ok = skipValue(raw, depth); !ok {
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

// skipString skips a string from behind its opening quote, and returns the rest.
func skipString(raw []byte) (rest []byte, ok bool) {
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '"':
			return raw[i+1:], true
		case c < ' ':
			return raw, false
		case c == '\\':
			if i+1 == len(raw) || unescaped(raw[i+1]) == 0 && hex4(raw[i:]) < 0 {
				return raw, false
			}
			i++
		}
	}
	return raw, false
}

func skipWord(raw []byte, word string) (rest []byte, ok bool) {
	if len(raw) < len(word) || string(raw[:len(word)]) != word {
		return raw, false
	}
	return raw[len(word):], true
}

func skipNumber(raw []byte) (rest []byte, ok bool) {
	if raw[0] != '-' && (raw[0] < '0' || raw[0] > '9') {
		return raw, false
	}
	end, _, ok := numberEnd(raw, 0)
	return raw[end:], ok
}
