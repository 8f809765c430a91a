package bodies

import (
	"assay/internal/assay"
	"encoding/json"
	"strings"

	"github.com/valyala/fastjson"
)

// contentText returns the text of a content field: a string, or an array of parts with texts.
func contentText(v *fastjson.Value) string {
	if v == nil {
		return ""
	}
	if v.Type() == fastjson.TypeString {
		return string(v.GetStringBytes())
	}
	var b strings.Builder
	for _, p := range v.GetArray() {
		b.Write(p.GetStringBytes("text"))
	}
	return b.String()
}

// floatOf returns an optional number.
func floatOf(v *fastjson.Value, key ...string) *float64 {
	n := v.Get(key...)
	if n == nil || n.Type() != fastjson.TypeNumber {
		return nil
	}
	return new(n.GetFloat64())
}

func intOf(v *fastjson.Value, key ...string) *int {
	f := floatOf(v, key...)
	if f == nil {
		return nil
	}
	return new(int(*f))
}

func stringOf(v *fastjson.Value, key ...string) string { return string(v.GetStringBytes(key...)) }

// stringsOf returns a list of strings, or one alone.
func stringsOf(v *fastjson.Value) []string {
	if v == nil {
		return nil
	}
	if v.Type() == fastjson.TypeString {
		return []string{string(v.GetStringBytes())}
	}
	var out []string
	for _, s := range v.GetArray() {
		out = append(out, string(s.GetStringBytes()))
	}
	return out
}

// addMessage adds a message, joining the system's texts in one place.
func (q *Request) addMessage(role, text string) {
	switch role {
	case "system", "developer":
		if q.System != "" {
			q.System += "\n"
		}
		q.System += text
	case "assistant", "model":
		q.Messages = append(q.Messages, assay.Message{Role: assay.RoleAssistant, Text: text})
	default:
		q.Messages = append(q.Messages, assay.Message{Role: assay.RoleUser, Text: text})
	}
}

// schemaOf returns a schema as JSON; nil where there is none.
func schemaOf(v *fastjson.Value) []byte {
	if v == nil || v.Type() != fastjson.TypeObject {
		return nil
	}
	return v.MarshalTo(nil)
}

// Nullable writes "" as null.
func Nullable(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// AppendJSON appends v as JSON. What it is given can always be written.
func AppendJSON(dst []byte, v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("simulator: write JSON: " + err.Error())
	}
	return append(dst, b...)
}
