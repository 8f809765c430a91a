package syntax

import (
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/study/prompt/lex"
)

const (
	maxProblems = 50 // reported of one template
	maxNesting  = 32 // tags within tags
	maxLevels   = 64 // brackets, signs and choices within each other
	maxNames    = 100
)

// parser builds the tree of a template. After a problem in a tag it goes on behind the tag.
type parser struct {
	Source
	Vocabulary
	lex      lex.Lexer
	problems assay.Problems
	named    map[string]bool // by set and for
	refused  []string        // tags reported as not allowed, so that their ends are not reported again
	nesting  int
	stopped  bool

	tag    lex.Piece // being read
	next   int       // token
	level  int
	broken bool // a problem in this tag has been reported
}

// Parse reads a template. With problems the tree is nil.
func Parse(from Source, words Vocabulary) ([]Node, assay.Problems) {
	p := &parser{Source: from, Vocabulary: words, named: map[string]bool{}}
	p.lex = lex.Lexer{Text: from.Text, Fail: p.fail}
	nodes := p.template()
	if len(p.problems) > 0 {
		return nil, p.problems.Sort()
	}
	return nodes, nil
}

// fail reports a problem. The rest of the tag reads as empty, so that one mistake is reported once.
func (p *parser) fail(at int, hint, format string, args ...any) {
	reported := p.broken || p.stopped
	p.broken = true
	switch {
	case reported:
	case len(p.problems) == maxProblems:
		p.problems.Add(p.Place(at), "", "more problems follow; fix these first")
		p.stopped = true
		p.lex.Stop()
	default:
		p.problems.Add(p.Place(at), hint, format, args...)
	}
}

func (p *parser) template() []Node {
	for {
		nodes, found := p.block()
		if !found {
			return nodes
		}
		word := p.word()
		if !slices.Contains(p.refused, strings.TrimPrefix(word, "end")) {
			p.fail(p.tag.At, "", "{%% %s %%} has nothing to close or continue", lex.Clip(word))
		}
	}
}

// block reads nodes up to a tag that closes or continues the surrounding one (found; it is then the current tag) or to the end.
func (p *parser) block() (nodes []Node, found bool) {
	for {
		p.read()
		switch p.tag.Kind {
		case lex.PieceEnd:
			return nodes, false
		case lex.PieceText:
			nodes = append(nodes, Text(p.tag.Text))
		case lex.PieceOutput:
			value := p.expression()
			p.finish()
			nodes = append(nodes, Output{value})
		case lex.PieceStatement:
			if n := p.statement(); n != nil {
				nodes = append(nodes, n)
			} else if p.continues() {
				return nodes, true
			}
		}
	}
}

// read makes the next piece the current tag.
func (p *parser) read() {
	p.broken = false
	p.tag = p.lex.Next()
	p.next, p.level = 0, 0
	p.broken = p.tag.Broken
}

// word returns the keyword of the current statement.
func (p *parser) word() string {
	if p.tag.Kind == lex.PieceStatement && p.tag.Tokens[0].Kind == lex.Name {
		return p.tag.Tokens[0].Text
	}
	return ""
}

func (p *parser) continues() bool {
	word := p.word()
	return word == "elif" || word == "else" || strings.HasPrefix(word, "end")
}

// statement reads the current tag, and its body if it has one. Nil: it has been refused, or belongs to the surrounding tag.
func (p *parser) statement() Node {
	p.next = 1
	switch word := p.word(); word {
	case "if":
		return p.ifStatement()
	case "for":
		return p.forStatement()
	case "set":
		return p.setStatement()
	default:
		if !p.continues() {
			p.refuse(word)
		}
		return nil
	}
}

func (p *parser) refuse(word string) {
	at := p.tag.At
	if len(p.tag.Tokens) > 0 {
		at = p.tag.Tokens[0].At
	}
	switch {
	case p.broken:
	case word == "":
		p.fail(at, "a statement begins with if, for, set or raw", "this tag is not understood")
	case refusedTags[word] != "":
		p.refused = append(p.refused, word)
		p.fail(at, refusedTags[word], "%s is not part of templates here", word)
	default:
		p.fail(at, assay.DidYouMean(word, []string{"if", "elif", "else", "endif", "for", "endfor", "set", "raw", "endraw"}),
			"unknown tag %s", lex.Clip(word))
	}
}

// refusedTags are Jinja's other tags, with what to do instead.
var refusedTags = map[string]string{
	"include":    "write the text here, or give it as a field",
	"import":     "write the text here",
	"from":       "write the text here",
	"extends":    "write the whole prompt here",
	"block":      "write the text here",
	"macro":      "write the text where it is needed",
	"call":       "write the text where it is needed",
	"filter":     "put the filter behind each value: {{ x | upper }}",
	"with":       "use set",
	"do":         "use set",
	"autoescape": "nothing is ever escaped",
	"break":      "put an if inside the loop",
	"continue":   "put an if inside the loop",
	"trans":      "write the text here",
	"debug":      "plan --show prints the prompts",
}

// body reads the nodes inside a tag, one level deeper.
func (p *parser) body(at int, closer string) (nodes []Node, found bool) {
	p.nesting++
	defer func() { p.nesting-- }()
	if p.nesting > maxNesting {
		p.fail(at, "", "tags are nested more than %d deep", maxNesting)
		p.stopped = true
		p.lex.Stop()
		return nil, false
	}
	for {
		some, found := p.block()
		nodes = append(nodes, some...)
		switch word := p.word(); {
		case !found:
			p.fail(at, "end it with {% "+closer+" %}", "this tag is never closed")
			return nodes, false
		case word == closer, word == "else", word == "elif" && closer == "endif":
			p.next = 1
			return nodes, true
		case !slices.Contains(p.refused, strings.TrimPrefix(word, "end")):
			p.fail(p.tag.At, "expected {% "+closer+" %}", "{%% %s %%} has nothing to close or continue here", lex.Clip(word))
		}
	}
}

func (p *parser) ifStatement() Node {
	n, at := If{}, p.tag.At
	for {
		when := p.expression()
		p.finish()
		body, found := p.body(at, "endif")
		n.Branches = append(n.Branches, Branch{when, body})
		if !found {
			return n
		}
		if p.word() != "elif" {
			break
		}
	}
	if p.word() == "else" {
		n.Otherwise = p.otherwise(at, "endif")
	}
	p.finish()
	return n
}

// otherwise reads the last part of an if or a for.
func (p *parser) otherwise(at int, closer string) []Node {
	p.finish()
	nodes, found := p.body(at, closer)
	for found && p.word() != closer {
		p.fail(p.tag.At, "", "%s after else", p.word())
		_, found = p.body(at, closer)
	}
	return nodes
}

func (p *parser) forStatement() Node {
	n := For{Pos: Pos(p.tag.At)}
	n.Name = p.target("for")
	if p.peek().Is(",") {
		p.fail(p.peek().At, "loop over the keys: {% for k in record %}{{ record[k] }}", "a loop has one name")
	}
	p.expect("in")
	n.Over = p.or()
	if p.accept("if") {
		n.When = p.expression()
	}
	if p.peek().Is("recursive") {
		p.fail(p.peek().At, "", "recursive loops are not part of templates here")
	}
	p.finish()
	var found bool
	if n.Body, found = p.body(p.tag.At, "endfor"); !found {
		return n
	}
	if p.word() == "else" {
		n.Otherwise = p.otherwise(n.At(), "endfor")
	}
	p.finish()
	return n
}

func (p *parser) setStatement() Node {
	n := Set{Name: p.target("set")}
	switch tok := p.peek(); {
	case tok.Is(",", "."):
		p.fail(tok.At, "", "set gives a value to one name")
	case tok.Kind == lex.End:
		p.refused = append(p.refused, "set")
		p.fail(tok.At, "write {% set name = value %}", "set needs a value")
	}
	p.expect("=")
	n.Value = p.expression()
	p.finish()
	return n
}

// target reads the name that a set or for gives a value to.
func (p *parser) target(tag string) string {
	tok := p.peek()
	if tok.Kind != lex.Name || reserved(tok.Text) {
		p.fail(tok.At, "", "%s needs a name, not %s", tag, tok.Quoted())
		return ""
	}
	if tok.Text == "loop" {
		p.fail(tok.At, "choose another name", "loop cannot be given a value")
	}
	p.named[tok.Text] = true
	if len(p.named) > maxNames {
		p.fail(tok.At, "", "the template names more than %d values", maxNames)
	}
	p.next++
	return tok.Text
}

// finish reports what is left over in the current tag.
func (p *parser) finish() {
	if tok := p.peek(); tok.Kind != lex.End {
		hint := ""
		switch {
		case tok.Is("="):
			hint = "write == to compare"
		case tok.Kind == lex.Name && p.next > 0 && p.tag.Tokens[p.next-1].Kind == lex.Name:
			hint = "a name is one word; reach other columns as item[\"two words\"]"
		}
		p.fail(tok.At, hint, "unexpected %s", tok.Quoted())
	}
}
