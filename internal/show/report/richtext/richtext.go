// Package richtext writes the texts of models as HTML: paragraphs, lists, emphasis, headings, tables and code, and JSON
// laid out. The texts are hostile: no link, picture, address or tag of one comes alive, each is shown as text.
package richtext

import (
	"bytes"
	"encoding/json"
	"html/template"
	"strings"

	"assay/internal/assay"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// parse knows CommonMark with tables and struck text, but no definitions of links: those would vanish from the text.
var parse = parser.NewParser(
	parser.WithBlockParsers(parser.DefaultBlockParsers()...),
	parser.WithInlineParsers(append(parser.DefaultInlineParsers(),
		util.Prioritized(extension.NewStrikethroughParser(), 500))...),
	parser.WithParagraphTransformers(util.Prioritized(extension.NewTableParagraphTransformer(), 200)),
	parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)),
)

// maxDepth bounds how deep quotes and lists are nested; a text that goes deeper is shown as it is.
const maxDepth = 60

// maxSigns bounds the signs that open something. What the parser does with them takes time by their square: 40,000 take a
// minute, 4,000 half a second.
const maxSigns = 4000

// HTML returns a text as HTML: its JSON laid out, its Markdown rendered. Where rendering would leave words out (a table with
// more cells than columns, for one), or would take long, the text is shown as it was sent. Control characters have to be gone.
func HTML(s string) template.HTML {
	if laid, ok := layJSON(s); ok {
		return laid
	}
	if signs(s) <= maxSigns {
		if out, whole := render(s); whole {
			return out
		}
	}
	return AsSent(s)
}

// render returns a text as HTML, and whether all of its words are there. A parser that panics has rendered nothing.
func render(s string) (_ template.HTML, whole bool) {
	defer func() {
		if recover() != nil {
			whole = false
		}
	}()
	w := writer{source: []byte(s)}
	w.blocks(parse.Parse(text.NewReader(w.source)), 0)
	return template.HTML(`<div class="md">` + w.out.String() + `</div>`), !w.tooDeep && w.letters == lettersOf(s)
}

// AsSent returns a text as it was sent, line by line.
func AsSent(s string) template.HTML {
	return template.HTML(`<div class="sent">` + template.HTMLEscapeString(s) + `</div>`)
}

// Both returns a text rendered and as it was sent, for a page that shows the one or the other. A text of which both are the same
// is there once.
func Both(s string) template.HTML {
	rendered, sent := HTML(s), AsSent(s)
	inner := strings.TrimSuffix(strings.TrimPrefix(string(rendered), `<div class="md"><p>`), "</p></div>")
	if rendered == sent || strings.ReplaceAll(inner, "<br>", "\n") == template.HTMLEscapeString(s) {
		return sent
	}
	return `<div class="both">` + rendered + sent + `</div>`
}

// Call returns a call of a tool: its name, and its arguments laid out.
func Call(c assay.ToolCall) template.HTML {
	return template.HTML(`<div class="md call"><p class="language">calls <b>` + template.HTMLEscapeString(c.Name) +
		`</b></p><pre class="code">` + template.HTMLEscapeString(indented(c.Given())) + `</pre></div>`)
}

func indented(s string) string {
	var b bytes.Buffer
	if json.Indent(&b, []byte(strings.TrimSpace(s)), "", "  ") != nil {
		return s
	}
	return b.String()
}

func signs(s string) int {
	n := 0
	for i := range len(s) {
		switch s[i] {
		case '*', '_', '[', '<', '>', '!', '~', '`':
			n++
		}
	}
	return n
}

// layJSON returns an object or a list with its members on lines of their own; false: the text is neither.
func layJSON(s string) (template.HTML, bool) {
	s = strings.TrimSpace(s)
	if !strings.HasPrefix(s, "{") && !strings.HasPrefix(s, "[") {
		return "", false
	}
	var b bytes.Buffer
	if json.Indent(&b, []byte(s), "", "  ") != nil {
		return "", false
	}
	return template.HTML(`<div class="md"><pre class="code">` + template.HTMLEscapeString(b.String()) + `</pre></div>`), true
}

// writer writes a tree as HTML. All text passes through write, which counts its letters.
type writer struct {
	source  []byte
	out     strings.Builder
	letters uint64
	tooDeep bool
}

func (w *writer) blocks(n ast.Node, depth int) {
	if depth > maxDepth {
		w.tooDeep = true
		return
	}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		w.block(c, depth+1)
	}
}

// write adds text.
func (w *writer) write(s string) {
	w.letters = addLetters(w.letters, s)
	template.HTMLEscape(&w.out, []byte(s))
}

// tag adds an element around what inner writes. Neither its name nor its attributes come from a text.
func (w *writer) tag(name, attributes string, inner func()) {
	w.out.WriteString("<" + name + attributes + ">")
	inner()
	w.out.WriteString("</" + name + ">")
}
