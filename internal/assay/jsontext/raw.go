package jsontext

import "unicode/utf8"

// AppendCompact appends valid JSON without the space between its tokens, so that it never breaks a line.
func AppendCompact(dst, raw []byte) []byte {
	for i := 0; i < len(raw); {
		switch c := raw[i]; c {
		case ' ', '\n', '\r', '\t':
			i++
		case '"':
			end := i + stringEnd(raw[i:])
			dst = AppendRawString(dst, raw[i:end])
			i = end
		default:
			dst = append(dst, c)
			i++
		}
	}
	return dst
}

// AppendRawString copies a JSON string, quotes and escapes included, and escapes what AppendText would have.
func AppendRawString(dst, raw []byte) []byte {
	start := 0
	for i := 0; i < len(raw); {
		if raw[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(raw[i:])
		if splitsLines(r) || r == utf8.RuneError && size == 1 {
			dst = append(dst, raw[start:i]...)
			dst = appendUnicode(dst, r)
			start = i + size
		}
		i += size
	}
	return append(dst, raw[start:]...)
}

// stringEnd returns the index after the closing quote of the string that raw begins with.
func stringEnd(raw []byte) int {
	for i := 1; i < len(raw); i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(raw)
}

// valueEnd returns the index after the value that raw, valid JSON without leading space, begins with.
func valueEnd(raw []byte) int {
	depth, i := 0, 0
	for i < len(raw) {
		switch raw[i] {
		case '"':
			i += stringEnd(raw[i:])
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		default:
			i++
			for depth == 0 && i < len(raw) && !endsScalar(raw[i]) {
				i++
			}
		}
		if depth <= 0 {
			return i
		}
	}
	return i
}

func endsScalar(c byte) bool {
	switch c {
	case ',', ':', ']', '}', '"', '{', '[', ' ', '\n', '\r', '\t':
		return true
	}
	return false
}

// SkipSpace returns what follows leading white space.
func SkipSpace(raw []byte) []byte {
	for len(raw) > 0 && (raw[0] == ' ' || raw[0] == '\n' || raw[0] == '\r' || raw[0] == '\t') {
		raw = raw[1:]
	}
	return raw
}

// EachMember calls f for every member of a valid JSON object; the key comes without its quotes, as it was written. Of any
// other value it makes nothing.
func EachMember(raw []byte, f func(key, value []byte) error) error {
	raw = SkipSpace(raw)
	if len(raw) == 0 || raw[0] != '{' {
		return nil
	}
	for raw = SkipSpace(raw[1:]); len(raw) > 0 && raw[0] == '"'; {
		end := stringEnd(raw)
		key := raw[1 : end-1]
		raw = SkipSpace(raw[end:])
		if len(raw) == 0 {
			return nil
		}
		raw = SkipSpace(raw[1:]) // the colon
		end = valueEnd(raw)
		if err := f(key, raw[:end]); err != nil {
			return err
		}
		if raw = SkipSpace(raw[end:]); len(raw) > 0 {
			raw = SkipSpace(raw[1:]) // the comma, or the end
		}
	}
	return nil
}

// EachElement calls f for every element of a valid JSON array. Of any other value it makes nothing.
func EachElement(raw []byte, f func(value []byte) error) error {
	raw = SkipSpace(raw)
	if len(raw) == 0 || raw[0] != '[' {
		return nil
	}
	for raw = SkipSpace(raw[1:]); len(raw) > 0 && raw[0] != ']'; {
		end := valueEnd(raw)
		if err := f(raw[:end]); err != nil {
			return err
		}
		if raw = SkipSpace(raw[end:]); len(raw) > 0 && raw[0] == ',' {
			raw = SkipSpace(raw[1:])
		}
	}
	return nil
}
