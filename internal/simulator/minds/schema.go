package minds

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/valyala/fastjson"
)

// maxSchemaDepth ends schemas that refer to themselves.
const maxSchemaDepth = 12

// schemaAnswer makes a JSON text that a schema allows. The first free string in it carries the sentences with the code word.
func schemaAnswer(schema []byte, r *rand.Rand, code string, decide decider) string {
	root, err := fastjson.ParseBytes(schema)
	if err != nil {
		return "{}"
	}
	g := &schemaWriter{root: root, r: r, code: code, decide: decide}
	return string(g.value(nil, root, 0))
}

type schemaWriter struct {
	root   *fastjson.Value
	r      *rand.Rand
	code   string  // still to be written; "" once it was
	key    string  // of the member that is written
	decide decider // fills what it knows better; nil: nothing
}

// decider returns the value of a member, and whether it knows one.
type decider func(key string, s *fastjson.Value) ([]byte, bool)

func (g *schemaWriter) value(dst []byte, s *fastjson.Value, depth int) []byte {
	s = g.resolve(s, depth)
	if s == nil || depth > maxSchemaDepth {
		return append(dst, "null"...)
	}
	if c := s.Get("const"); c != nil {
		return c.MarshalTo(dst)
	}
	if g.decide != nil {
		if raw, ok := g.decide(g.key, s); ok {
			return append(dst, raw...)
		}
	}
	if e := s.GetArray("enum"); len(e) > 0 {
		return e[g.r.IntN(len(e))].MarshalTo(dst)
	}
	switch schemaType(s) {
	case "object":
		return g.object(dst, s, depth)
	case "array":
		return g.array(dst, s, depth)
	case "string":
		return appendText(dst, g.text(s))
	case "integer":
		lo, hi := bounds(s, 0, 10)
		return strconv.AppendInt(dst, int64(math.Ceil(lo))+g.r.Int64N(max(int64(math.Floor(hi))-int64(math.Ceil(lo)), 0)+1), 10)
	case "number":
		lo, hi := bounds(s, 0, 1)
		return strconv.AppendFloat(dst, math.Round((lo+(hi-lo)*g.r.Float64())*100)/100, 'f', -1, 64)
	case "boolean":
		return strconv.AppendBool(dst, g.r.IntN(2) == 0)
	}
	return append(dst, "null"...)
}

// resolve follows $ref, and takes the first of several choices that is not null.
func (g *schemaWriter) resolve(s *fastjson.Value, depth int) *fastjson.Value {
	for range maxSchemaDepth {
		if ref := string(s.GetStringBytes("$ref")); strings.HasPrefix(ref, "#") {
			s = g.root.Get(pointer(ref)...)
			if s == nil {
				return nil
			}
			continue
		}
		var choices []*fastjson.Value
		for _, k := range []string{"anyOf", "oneOf", "allOf"} {
			choices = append(choices, s.GetArray(k)...)
		}
		if len(choices) == 0 {
			return s
		}
		s = choices[0]
		if depth < maxSchemaDepth/2 && schemaType(s) == "null" && len(choices) > 1 {
			s = choices[1]
		}
	}
	return nil
}

// pointer takes "#/$defs/node" apart.
func pointer(ref string) []string {
	parts := strings.Split(strings.Trim(ref, "#/"), "/")
	for i, p := range parts {
		parts[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(p)
	}
	return parts
}

// schemaType returns the type in lower case, as Gemini writes it in upper; the first that is not null where there are several.
func schemaType(s *fastjson.Value) string {
	t := s.Get("type")
	if t == nil {
		switch {
		case s.Get("properties") != nil:
			return "object"
		case s.Get("items") != nil:
			return "array"
		}
		return "string"
	}
	for _, one := range t.GetArray() {
		if name := string(one.GetStringBytes()); name != "null" {
			return strings.ToLower(name)
		}
	}
	return strings.ToLower(string(t.GetStringBytes()))
}

func (g *schemaWriter) object(dst []byte, s *fastjson.Value, depth int) []byte {
	required := map[string]bool{}
	for _, v := range s.GetArray("required") {
		required[string(v.GetStringBytes())] = true
	}
	dst = append(dst, '{')
	first := true
	s.GetObject("properties").Visit(func(key []byte, p *fastjson.Value) {
		if depth >= maxSchemaDepth/2 && !required[string(key)] {
			return
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(appendText(dst, string(key)), ':')
		g.key = string(key)
		dst = g.value(dst, p, depth+1)
	})
	return append(dst, '}')
}

func (g *schemaWriter) array(dst []byte, s *fastjson.Value, depth int) []byte {
	least, most := s.GetInt("minItems"), 3
	if v := s.Get("maxItems"); v != nil {
		most = v.GetInt()
	}
	n := least
	if depth < maxSchemaDepth/2 && most > least {
		n += g.r.IntN(min(most-least, 3) + 1)
	}
	dst = append(dst, '[')
	for i := range n {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = g.value(dst, s.Get("items"), depth+1)
	}
	return append(dst, ']')
}

func (g *schemaWriter) text(s *fastjson.Value) string {
	switch string(s.GetStringBytes("format")) {
	case "date":
		return "2026-10-" + strconv.Itoa(10+g.r.IntN(20))
	case "date-time":
		return "2026-10-" + strconv.Itoa(10+g.r.IntN(20)) + "T12:00:00Z"
	}
	t := sentence(g.r)
	if g.code != "" {
		t += " " + g.code
		g.code = ""
	}
	if most := s.GetInt("maxLength"); most > 0 && len(t) > most {
		t = t[:most]
	}
	return t
}

// bounds returns the least and the most that a number may be, as far as they can be reckoned with.
func bounds(s *fastjson.Value, lo, hi float64) (float64, float64) {
	given := s.Get("minimum") != nil
	if given {
		lo = s.GetFloat64("minimum")
	}
	if s.Get("maximum") != nil {
		hi = s.GetFloat64("maximum")
		if !given {
			lo = min(lo, hi)
		}
	} else if given {
		hi = max(hi, lo+10)
	}
	const most = 1e305
	lo = min(max(lo, -most), most)
	return lo, min(max(hi, lo), most)
}

// appendText appends a text as JSON writes it.
func appendText(dst []byte, text string) []byte {
	b, _ := json.Marshal(text) // a text can always be written
	return append(dst, b...)
}
