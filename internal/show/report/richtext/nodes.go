package richtext

import (
	"html/template"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	extended "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

func (w *writer) block(n ast.Node, depth int) {
	inside := func() { w.blocks(n, depth) }
	switch n := n.(type) {
	case *ast.Paragraph:
		w.tag("p", "", func() { w.inlines(n, depth) })
	case *ast.TextBlock:
		w.inlines(n, depth)
	case *ast.Heading: // no heading of the page: its outline is ours
		w.tag("p", ` class="heading heading`+strconv.Itoa(n.Level)+`"`, func() { w.inlines(n, depth) })
	case *ast.Blockquote:
		w.tag("blockquote", "", inside)
	case *ast.List:
		if n.IsOrdered() {
			w.tag("ol", ` start="`+strconv.Itoa(n.Start)+`"`, inside)
		} else {
			w.tag("ul", "", inside)
		}
	case *ast.ListItem:
		w.tag("li", "", inside)
	case *ast.ThematicBreak:
		w.out.WriteString("<hr>")
	case *ast.FencedCodeBlock:
		if n.Info != nil {
			w.tag("p", ` class="language"`, func() { w.write(string(n.Info.Segment.Value(w.source))) })
		}
		w.code(n.Lines())
	case *ast.CodeBlock:
		w.code(n.Lines())
	case *ast.HTMLBlock:
		w.tag("p", ` class="sent"`, func() {
			w.lines(n.Lines())
			if n.HasClosure() {
				w.write(string(n.ClosureLine.Value(w.source)))
			}
		})
	case *extended.Table:
		w.tag("table", "", inside)
	case *extended.TableHeader, *extended.TableRow:
		w.tag("tr", "", inside)
	case *extended.TableCell:
		w.cell(n, depth)
	default:
		inside()
	}
}

func (w *writer) cell(n *extended.TableCell, depth int) {
	name, attributes := "td", ""
	if n.Parent().Kind() == extended.KindTableHeader {
		name, attributes = "th", ` scope="col"`
	}
	if n.Alignment == extended.AlignRight {
		attributes += ` class="n"`
	}
	w.tag(name, attributes, func() { w.inlines(n, depth) })
}

func (w *writer) code(lines *text.Segments) { w.tag("pre", ` class="code"`, func() { w.lines(lines) }) }

func (w *writer) lines(all *text.Segments) {
	for i := range all.Len() {
		line := all.At(i)
		w.write(string(line.Value(w.source)))
	}
}

func (w *writer) inlines(n ast.Node, depth int) {
	if depth > maxDepth {
		w.tooDeep = true
		return
	}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		w.inline(c, depth+1)
	}
}

func (w *writer) inline(n ast.Node, depth int) {
	inside := func() { w.inlines(n, depth) }
	switch n := n.(type) {
	case *ast.Text:
		w.write(unescaped(string(n.Segment.Value(w.source))))
		if n.SoftLineBreak() || n.HardLineBreak() { // a line that a model ends is ended
			w.out.WriteString("<br>")
		}
	case *ast.String:
		w.write(string(n.Value))
	case *ast.CodeSpan:
		w.tag("code", "", func() {
			for c := n.FirstChild(); c != nil; c = c.NextSibling() {
				if t, ok := c.(*ast.Text); ok {
					w.write(string(t.Segment.Value(w.source)))
				}
			}
		})
	case *ast.Emphasis:
		w.tag([...]string{"em", "strong"}[min(n.Level, 2)-1], "", inside)
	case *extended.Strikethrough:
		w.tag("del", "", inside)
	case *ast.Link:
		inside()
		w.target(n.Destination, n.Title)
	case *ast.Image:
		w.out.WriteString(`<span class="soft">` + template.HTMLEscapeString("[picture] ") + `</span>`)
		inside()
		w.target(n.Destination, n.Title)
	case *ast.AutoLink:
		w.write(string(n.Label(w.source)))
	case *ast.RawHTML:
		w.lines(n.Segments)
	default:
		inside()
	}
}

// target adds where a link leads, as text.
func (w *writer) target(to, title []byte) {
	w.write(" (" + string(to))
	if len(title) > 0 {
		w.write(` "` + string(title) + `"`)
	}
	w.write(")")
}

// unescaped returns a text without the backslashes in front of Markdown's own signs. Those in front of brackets stay: \( and
// \[ begin formulas.
func unescaped(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("*_#`~|-+.!>", s[i+1]) >= 0 {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
