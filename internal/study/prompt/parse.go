package prompt

import (
	"slices"
	"strings"

	"assay/internal/assay"
)

const (
	maxProblems = 50 // reported of one template
	maxNesting  = 32 // tags within tags
	maxLevels   = 64 // brackets, signs and choices within each other
	maxNames    = 100
)

// parser builds the tree of a template. After a problem in a tag it goes on behind the tag.
type parser struct {
	t        *Template
	lex      lexer
	problems assay.Problems
	named    map[string]bool // by set and for
	refused  []string        // tags reported as not allowed, so that their ends are not reported again
	nesting  int
	stopped  bool

	tag    piece // being read
	next   int   // token
	level  int
	broken bool // a problem in this tag has been reported
}

// fail reports a problem. The rest of the tag reads as empty, so that one mistake is reported once.
func (p *parser) fail(at int, hint, format string, args ...any) {
	reported := p.broken || p.stopped
	p.broken = true
	switch {
	case reported:
	case len(p.problems) == maxProblems:
		p.problems.Add(p.t.place(at), "", "more problems follow; fix these first")
		p.stopped = true
		p.lex.pos = len(p.lex.text)
	default:
		p.problems.Add(p.t.place(at), hint, format, args...)
	}
}

func (p *parser) template() []node {
	for {
		nodes, found := p.block()
		if !found {
			return nodes
		}
		word := p.word()
		if !slices.Contains(p.refused, strings.TrimPrefix(word, "end")) {
			p.fail(p.tag.at, "", "{%% %s %%} has nothing to close or continue", clip(word))
		}
	}
}

// block reads nodes up to a tag that closes or continues the surrounding one (found; it is then the current tag) or to the end.
func (p *parser) block() (nodes []node, found bool) {
	for {
		p.read()
		switch p.tag.kind {
		case pieceEnd:
			return nodes, false
		case pieceText:
			nodes = append(nodes, textNode(p.tag.text))
		case pieceOutput:
			value := p.expression()
			p.finish()
			nodes = append(nodes, outputNode{value})
		case pieceStatement:
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
	p.tag = p.lex.next()
	p.next, p.level = 0, 0
	p.broken = p.tag.broken
}

// word is the keyword of the current statement.
func (p *parser) word() string {
	if p.tag.kind == pieceStatement && p.tag.tokens[0].kind == tokName {
		return p.tag.tokens[0].text
	}
	return ""
}

func (p *parser) continues() bool {
	word := p.word()
	return word == "elif" || word == "else" || strings.HasPrefix(word, "end")
}

// statement reads the current tag, and its body if it has one. Nil: it has been refused, or belongs to the surrounding tag.
func (p *parser) statement() node {
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
	at := p.tag.at
	if len(p.tag.tokens) > 0 {
		at = p.tag.tokens[0].at
	}
	switch {
	case p.broken:
	case word == "":
		p.fail(at, "a statement begins with if, for, set or raw", "this tag is not understood")
	case refusedTags[word] != "":
		p.refused = append(p.refused, word)
		p.fail(at, refusedTags[word], "%s is not part of templates here", word)
	default:
		p.fail(at, assay.DidYouMean(word, []string{"if", "elif", "else", "endif", "for", "endfor", "set", "raw", "endraw"}), "unknown tag %s", clip(word))
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
func (p *parser) body(at int, closer string) (nodes []node, found bool) {
	p.nesting++
	defer func() { p.nesting-- }()
	if p.nesting > maxNesting {
		p.fail(at, "", "tags are nested more than %d deep", maxNesting)
		p.stopped = true
		p.lex.pos = len(p.lex.text)
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
			p.fail(p.tag.at, "expected {% "+closer+" %}", "{%% %s %%} has nothing to close or continue here", clip(word))
		}
	}
}

func (p *parser) ifStatement() node {
	n, at := ifNode{}, p.tag.at
	for {
		when := p.expression()
		p.finish()
		body, found := p.body(at, "endif")
		n.branches = append(n.branches, branch{when, body})
		if !found {
			return n
		}
		if p.word() != "elif" {
			break
		}
	}
	if p.word() == "else" {
		n.otherwise = p.otherwise(at, "endif")
	}
	p.finish()
	return n
}

// otherwise reads the last part of an if or a for.
func (p *parser) otherwise(at int, closer string) []node {
	p.finish()
	nodes, found := p.body(at, closer)
	for found && p.word() != closer {
		p.fail(p.tag.at, "", "%s after else", p.word())
		_, found = p.body(at, closer)
	}
	return nodes
}

func (p *parser) forStatement() node {
	n := forNode{pos: pos(p.tag.at)}
	n.name = p.target("for")
	if p.peek().is(",") {
		p.fail(p.peek().at, "loop over the keys: {% for k in record %}{{ record[k] }}", "a loop has one name")
	}
	p.expect("in")
	n.over = p.or()
	if p.accept("if") {
		n.when = p.expression()
	}
	if p.peek().is("recursive") {
		p.fail(p.peek().at, "", "recursive loops are not part of templates here")
	}
	p.finish()
	var found bool
	if n.body, found = p.body(p.tag.at, "endfor"); !found {
		return n
	}
	if p.word() == "else" {
		n.otherwise = p.otherwise(n.at(), "endfor")
	}
	p.finish()
	return n
}

func (p *parser) setStatement() node {
	n := setNode{name: p.target("set")}
	switch tok := p.peek(); {
	case tok.is(",", "."):
		p.fail(tok.at, "", "set gives a value to one name")
	case tok.kind == tokEnd:
		p.refused = append(p.refused, "set")
		p.fail(tok.at, "write {% set name = value %}", "set needs a value")
	}
	p.expect("=")
	n.value = p.expression()
	p.finish()
	return n
}

// target reads the name that a set or for gives a value to.
func (p *parser) target(tag string) string {
	tok := p.peek()
	if tok.kind != tokName || reserved(tok.text) {
		p.fail(tok.at, "", "%s needs a name, not %s", tag, tok.said())
		return ""
	}
	if tok.text == "loop" {
		p.fail(tok.at, "choose another name", "loop cannot be given a value")
	}
	p.named[tok.text] = true
	if len(p.named) > maxNames {
		p.fail(tok.at, "", "the template names more than %d values", maxNames)
	}
	p.next++
	return tok.text
}

// finish reports what is left over in the current tag.
func (p *parser) finish() {
	if tok := p.peek(); tok.kind != tokEnd {
		hint := ""
		switch {
		case tok.is("="):
			hint = "write == to compare"
		case tok.kind == tokName && p.next > 0 && p.tag.tokens[p.next-1].kind == tokName:
			hint = "a name is one word; reach other columns as item[\"two words\"]"
		}
		p.fail(tok.at, hint, "unexpected %s", tok.said())
	}
}
