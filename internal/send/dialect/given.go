package dialect

import (
	"assay/internal/assay/jsontext"
	"bytes"
	"errors"
	"fmt"
	"slices"
)

// appendGiven appends a body that others wrote, without the space between its tokens. A label is added to its labels,
// and replaces one of the same name.
func appendGiven(dst, body []byte, label string) ([]byte, error) {
	if raw := jsontext.SkipSpace(body); !jsontext.Valid(raw) || raw[0] != '{' {
		return dst, errors.New("write body: the given body is not a JSON object")
	}
	if label == "" {
		return jsontext.AppendCompact(dst, body), nil
	}
	b := append(dst, `{"labels":{`...)
	b = jsontext.AppendString(append(jsontext.AppendString(b, labelName), ':'), label)
	var rest []byte
	err := jsontext.EachMember(body, func(key, value []byte) error {
		if !jsontext.Named(key, "labels") {
			rest = appendPair(append(rest, ','), key, value)
			return nil
		}
		if jsontext.SkipSpace(value)[0] != '{' {
			return errors.New("labels is not an object")
		}
		return jsontext.EachMember(value, func(name, text []byte) error {
			if !jsontext.Named(name, labelName) {
				b = appendPair(append(b, ','), name, text)
			}
			return nil
		})
	})
	if err != nil {
		return dst, fmt.Errorf("write body: %w", err)
	}
	return append(append(append(b, '}'), rest...), '}'), nil
}

// AppendModel appends a body with another model's name in it. After an error dst is returned as it was.
func AppendModel(dst, body []byte, model string) ([]byte, error) {
	if raw := jsontext.SkipSpace(body); !jsontext.Valid(raw) || raw[0] != '{' {
		return dst, errors.New("write body: the given body is not a JSON object")
	}
	b := jsontext.AppendString(append(dst, `{"model":`...), model)
	_ = jsontext.EachMember(body, func(key, value []byte) error { // the callback has no errors
		if !jsontext.Named(key, "model") {
			b = appendPair(append(b, ','), key, value)
		}
		return nil
	})
	return append(b, '}'), nil
}

// AppendWithout appends a body without some of its members. After an error dst is returned as it was.
func AppendWithout(dst, body []byte, names ...string) ([]byte, error) {
	if raw := jsontext.SkipSpace(body); !jsontext.Valid(raw) || raw[0] != '{' {
		return dst, errors.New("write body: the given body is not a JSON object")
	}
	b := append(dst, '{')
	_ = jsontext.EachMember(body, func(key, value []byte) error { // the callback has no errors
		if !slices.ContainsFunc(names, func(name string) bool { return jsontext.Named(key, name) }) {
			b = appendPair(appendComma(b), key, value)
		}
		return nil
	})
	return append(b, '}'), nil
}

// AppendRenamed appends a result line under another id, wherever its carrier keeps it, and without the label that
// carries ours: such a line has no id of its author, and an echo of ours beside the request goes with the label.
// Everything else of the line stays as it came. After an error dst is returned as it was.
func AppendRenamed(dst, line []byte, id string) ([]byte, error) {
	if raw := jsontext.SkipSpace(line); !jsontext.Valid(raw) || raw[0] != '{' {
		return dst, errors.New("rename a result: the line is not a JSON object")
	}
	ours := labelled(line)
	b := append(dst, '{')
	err := jsontext.EachMember(line, func(key, value []byte) error {
		if ours && jsontext.Named(key, "custom_id") {
			return nil
		}
		b = appendComma(b)
		switch {
		case jsontext.Named(key, "custom_id"), jsontext.Named(key, "batch_request_id"), jsontext.Named(key, "key"),
			jsontext.Named(key, "recordId"):
			b = appendName(b, key)
			b = jsontext.AppendString(b, id)
		case jsontext.Named(key, "request"):
			b = appendUnlabelled(appendName(b, key), value)
		default:
			b = appendPair(b, key, value)
		}
		return nil
	})
	if err != nil {
		return dst, err
	}
	return append(b, '}'), nil
}

// labelled reports whether the request that a line echoes has our label.
func labelled(line []byte) bool {
	found := false
	if !bytes.Contains(line, []byte(labelName)) {
		return false
	}
	within := func(raw []byte, word string, f func(value []byte)) {
		jsontext.Members(raw, func(name, value []byte) {
			if jsontext.Named(name, word) {
				f(value)
			}
		})
	}
	within(line, "request", func(request []byte) {
		within(request, "labels", func(labels []byte) { within(labels, labelName, func([]byte) { found = true }) })
	})
	return found
}

// appendUnlabelled appends an echoed request without our label, and without labels if it has no others.
func appendUnlabelled(dst, request []byte) []byte {
	if len(request) == 0 || request[0] != '{' || !bytes.Contains(request, []byte(labelName)) {
		return jsontext.AppendCompact(dst, request)
	}
	b := append(dst, '{')
	_ = jsontext.EachMember(request, func(key, value []byte) error { // the callback has no errors
		if jsontext.Named(key, "labels") && len(value) > 0 && value[0] == '{' {
			labels := []byte{'{'}
			_ = jsontext.EachMember(value, func(name, text []byte) error {
				if !jsontext.Named(name, labelName) {
					labels = appendPair(appendComma(labels), name, text)
				}
				return nil
			})
			if len(labels) == 1 {
				return nil
			}
			value = append(labels, '}')
		}
		b = appendPair(appendComma(b), key, value)
		return nil
	})
	return append(b, '}')
}

// appendComma separates what follows from the member before it, if there is one.
func appendComma(b []byte) []byte {
	if b[len(b)-1] == '{' {
		return b
	}
	return append(b, ',')
}

func appendName(b, key []byte) []byte {
	b = append(b, '"')
	b = jsontext.AppendRawString(b, key)
	return append(b, '"', ':')
}

func appendPair(b, key, value []byte) []byte {
	return jsontext.AppendCompact(appendName(b, key), value)
}
