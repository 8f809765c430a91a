package minds

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"assay/internal/simulator/dice"

	"github.com/valyala/fastjson"
)

// replyForm is how a judge is asked to reply: an object, one word in a tag or on a line of its own, or one word and nothing else.
type replyForm struct {
	alone   bool   // nothing stands before the word
	schema  []byte // of the object; nil: one word
	before  string // the text before the word
	after   string
	options []string
	scale   *[2]float64 // the range of scores that the instructions state; nil: none
}

var (
	tagForm   = regexp.MustCompile(`<([A-Za-z]\w*)>\s*(\w[\w ./-]*?)\s*</([A-Za-z]\w*)>`)
	lineForm  = regexp.MustCompile(`\b([A-Za-z]\w*):[ \t]*([\w/]+(?:[ \t]*\|[ \t]*[\w/]+)+)`)
	aloneForm = regexp.MustCompile(`(?i)\bone (?:word|letter|number|label)[,:]? ((?:[\w-]+, )*[\w-]+,? or [\w-]+)`)
	listForm  = regexp.MustCompile(listText)
	saidForm  = regexp.MustCompile(`(?i)\b(?:reply|answer|respond|say|write|return|output|print|give|choose|rate|score|grade)\b[^.!?\n]*?(` +
		listText + `)`)
	rangeForm = regexp.MustCompile(`^(-?\d+)(?: \([^)\n]*\))? ?(?:to|and|-|–) ?(-?\d+)$`)
	scaleForm = regexp.MustCompile(`from (-?\d+(?:\.\d+)?)(?: \([^)\n]*\))? to (-?\d+(?:\.\d+)?)`)
)

// listText is a list of options: some words with an "or" before the last, or with strokes between them, or a range of whole numbers.
const listText = `(?:[\w-]+, ?)*[\w-]+,? or (?:an? )?[\w-]+|\b[\w-]+(?:[/|][\w-]+)+|-?\d+(?: \([^)\n]*\))? ?(?:to|and|-|–) ?-?\d+\b`

// mostInRange is how many numbers a range of options has at most.
const mostInRange = 100

// readForm finds out how a judge is asked to reply: by the request's own schema, or by the instructions, those of the
// message before those of the system.
func readForm(q *Question, rest string) (*replyForm, bool) {
	f := &replyForm{schema: q.Schema, scale: readScale(rest)}
	if f.schema != nil {
		return f, true
	}
	for _, text := range []string{rest, q.System} {
		if f.readTags(text) || f.readLine(text) || f.readWord(text) {
			return f, true
		}
		if f.schema = schemaInWords(text); f.schema != nil {
			return f, true
		}
	}
	if q.Weigh && (f.readList(rest) || f.readList(q.System)) {
		return f, true
	}
	return nil, false
}

func readScale(text string) *[2]float64 {
	m := scaleForm.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	lo, err1 := strconv.ParseFloat(m[1], 64)
	hi, err2 := strconv.ParseFloat(m[2], 64)
	if err1 != nil || err2 != nil || lo >= hi {
		return nil
	}
	return &[2]float64{lo, hi}
}

// readTags finds <BETTER_SAMPLE>SAMPLE_1</BETTER_SAMPLE> and the other words in the same tag.
func (f *replyForm) readTags(text string) bool {
	if !strings.Contains(text, "</") {
		return false
	}
	name := ""
	for _, m := range tagForm.FindAllStringSubmatch(text, -1) {
		if m[1] != m[3] || name != "" && m[1] != name {
			continue
		}
		name = m[1]
		if !slices.Contains(f.options, m[2]) {
			f.options = append(f.options, m[2])
		}
	}
	f.before, f.after = "<"+name+">", "</"+name+">"
	return name != ""
}

// readLine finds Model: A|B|equal.
func (f *replyForm) readLine(text string) bool {
	if !strings.Contains(text, "|") {
		return false
	}
	m := lineForm.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	for o := range strings.SplitSeq(m[2], "|") {
		f.options = append(f.options, strings.TrimSpace(o))
	}
	f.before, f.after = m[1]+": ", ""
	return true
}

// readWord finds "one word, right or wrong, and nothing else".
func (f *replyForm) readWord(text string) bool {
	m := aloneForm.FindStringSubmatch(text)
	if m == nil || !strings.Contains(text, "nothing else") {
		return false
	}
	f.options = strings.FieldsFunc(strings.Replace(m[1], " or ", ", ", 1), func(c rune) bool { return c == ',' || c == ' ' })
	f.alone = true
	return true
}

// readList finds "yes or no", "A/B/C" or "1 to 5", best where it follows what is to be done: words that are weighed stand alone.
func (f *replyForm) readList(text string) bool {
	text = strings.NewReplacer(`"`, "", `'`, "", "`", "", "*", "", "“", "", "”", "").Replace(text)
	list := ""
	if said := saidForm.FindAllStringSubmatch(text, -1); len(said) > 0 {
		list = said[len(said)-1][1]
	} else if all := listForm.FindAllString(text, -1); len(all) > 0 {
		list = all[len(all)-1]
	}
	if ends := rangeForm.FindStringSubmatch(list); ends != nil {
		low, _ := strconv.Atoi(ends[1])
		high, _ := strconv.Atoi(ends[2])
		f.options = nil
		for n := low; n <= min(high, low+mostInRange); n++ {
			f.options = append(f.options, strconv.Itoa(n))
		}
	} else {
		list = strings.NewReplacer(" or an ", ",", " or a ", ",", " or ", ",").Replace(list)
		f.options = strings.FieldsFunc(list, func(c rune) bool { return strings.ContainsRune(", /|", c) })
	}
	f.alone = len(f.options) > 1
	return f.alone
}

// choices lists everything among which the reply chooses.
func (f *replyForm) choices() [][]string {
	if f.schema == nil {
		return [][]string{f.options}
	}
	root, err := fastjson.ParseBytes(f.schema)
	if err != nil {
		return nil
	}
	return enumsIn(nil, root, 0)
}

func enumsIn(found [][]string, v *fastjson.Value, depth int) [][]string {
	if depth > maxSchemaDepth {
		return found
	}
	switch v.Type() {
	case fastjson.TypeArray:
		for _, e := range v.GetArray() {
			found = enumsIn(found, e, depth+1)
		}
	case fastjson.TypeObject:
		if e := v.GetArray("enum"); len(e) > 0 {
			found = append(found, textsOf(e))
		}
		v.GetObject().Visit(func(_ []byte, e *fastjson.Value) { found = enumsIn(found, e, depth+1) })
	}
	return found
}

// fill writes the reply.
func (f *replyForm) fill(r *ruling) string {
	d := dice.New(r.draw)
	if f.alone {
		return f.options[r.pick(f.options)]
	}
	if f.schema == nil {
		return sentence(d) + "\n" + f.before + f.options[r.pick(f.options)] + f.after
	}
	root, err := fastjson.ParseBytes(f.schema)
	if err != nil {
		return "{}"
	}
	g := &schemaWriter{root: root, r: d, decide: r.decide}
	return string(g.value(nil, root, 0))
}

// wordField is a field of an object that instructions describe in words, such as "score": 0, 1 or 2.
type wordField struct {
	name     string
	texts    []string // in quotes
	literals []string // numbers, true and false
	number   bool     // "a number from …"
}

// schemaInWords returns a schema of the object that instructions ask for in words; nil where they do not. Several objects with the same
// field, {"label": "right"} or {"label": "wrong"}, list its values.
func schemaInWords(text string) []byte {
	var fields []*wordField
	for range maxExhibits {
		_, after, ok := strings.Cut(text, "{")
		if !ok {
			break
		}
		fields, text = readFields(fields, after)
	}
	if len(fields) == 0 {
		return nil
	}
	dst := []byte(`{"type":"object","properties":{`)
	for i, f := range fields {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendText(dst, f.name), ':')
		dst = append(dst, f.schema()...)
	}
	return append(dst, "}}"...)
}

// readFields reads fields up to the brace that ends an object, and returns what follows.
func readFields(fields []*wordField, text string) ([]*wordField, string) {
	var f *wordField
	for text != "" {
		switch c := text[0]; {
		case c == '}' || c == '{':
			return fields, text[1:]
		case c == '"':
			quoted, after, ok := strings.Cut(text[1:], `"`)
			if !ok {
				return fields, ""
			}
			text = after
			if strings.HasPrefix(strings.TrimLeft(text, " "), ":") {
				fields, f = field(fields, quoted)
			} else if f != nil {
				f.texts = append(f.texts, strings.Split(quoted, "|")...)
			}
		case strings.IndexByte("-0123456789abcdefghijklmnopqrstuvwxyz", c) >= 0:
			end := strings.IndexAny(text, " ,}\n|:\"{()")
			if end <= 0 {
				end = len(text)
			}
			f.take(text[:end])
			text = text[end:]
		default:
			text = text[1:]
		}
	}
	return fields, ""
}

func field(fields []*wordField, name string) ([]*wordField, *wordField) {
	for _, f := range fields {
		if f.name == name {
			return fields, f
		}
	}
	f := &wordField{name: name}
	return append(fields, f), f
}

// take reads a word outside of quotes.
func (f *wordField) take(text string) {
	if f == nil {
		return
	}
	if text == "number" || text == "integer" {
		f.number = true
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil || text == "true" || text == "false" {
		if !slices.Contains(f.literals, text) {
			f.literals = append(f.literals, text)
		}
	}
}

func (f *wordField) schema() []byte {
	switch {
	case slices.Contains(f.literals, "true") || slices.Contains(f.literals, "false"):
		return []byte(`{"type":"boolean"}`)
	case f.number && len(f.literals) >= 2 && jsonNumber(f.literals[0]) && jsonNumber(f.literals[1]):
		return []byte(`{"type":"number","minimum":` + f.literals[0] + `,"maximum":` + f.literals[1] + `}`)
	case f.number:
		return []byte(`{"type":"number"}`)
	case len(f.literals) > 0 && !slices.ContainsFunc(f.literals, func(l string) bool { return !jsonNumber(l) }):
		return []byte(`{"type":"number","enum":[` + strings.Join(f.literals, ",") + `]}`)
	case len(f.texts) == 0 || len(f.texts) == 1 && strings.ContainsAny(f.texts[0], " .…<"):
		return []byte(`{"type":"string"}`)
	}
	dst := []byte(`{"type":"string","enum":[`)
	for i, t := range inOrder(f.texts) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendText(dst, t)
	}
	return append(dst, "]}"...)
}

// inOrder is options without blanks around them and repetitions.
func inOrder(texts []string) []string {
	var out []string
	for _, t := range texts {
		if t = strings.TrimSpace(t); !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// jsonNumber reports whether a text is a number as JSON writes them.
func jsonNumber(text string) bool {
	v, err := fastjson.Parse(text)
	return err == nil && v.Type() == fastjson.TypeNumber
}
