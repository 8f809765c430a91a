package study

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"

	"assay/internal/assay"
)

// LaneSpecs are the lanes as written: a map, or a file that holds one.
type LaneSpecs struct {
	File string
	At   assay.Place
	List []laneSpec
}

type laneSpec struct {
	name string
	at   assay.Place
	node *node
}

func (l *LaneSpecs) read(d *decoder, n *node) {
	l.At = n.at
	switch n.kind {
	case kindText:
		l.File = n.text
	case kindMap:
		for _, p := range n.pairs {
			at := p.at
			if at.Line == 0 {
				at = p.val.at
			}
			l.List = append(l.List, laneSpec{name: p.key, at: at, node: p.val})
		}
	default:
		d.wrong(n, "a map of lanes, or the name of a file that holds one")
	}
}

// LaneSpec is one lane as written; it is read when its grid is expanded.
type LaneSpec struct{ node *node }

func (l *LaneSpec) read(_ *decoder, n *node) { l.node = n }

// laneKeys are the parameters of a lane as a study writes them. Every one but stop, extra and schema may be a list,
// which makes a grid.
type laneKeys struct {
	Where
	Model       string       `json:"model" jsonschema:"provider/model"`
	Temperature *float64     `json:"temperature,omitempty"`
	TopP        *float64     `json:"top_p,omitempty"`
	TopK        *int         `json:"top_k,omitempty"`
	MaxTokens   int          `json:"max_tokens,omitempty" jsonschema:"most output tokens, thinking included"`
	Effort      string       `json:"effort,omitempty" jsonschema:"reasoning effort by the provider's own word"`
	Thinking    Thinking     `json:"thinking,omitempty" jsonschema:"off, on, a number of tokens, or a level"`
	Thoughts    bool         `json:"thoughts,omitempty" jsonschema:"ask for the thoughts too; they are kept apart"`
	Stop        Names        `json:"stop,omitzero" jsonschema:"texts that end the answer"`
	Seed        *int64       `json:"seed,omitempty"`
	Schema      RawSchema    `json:"schema,omitzero" jsonschema:"JSON Schema of the answer"`
	ServiceTier string       `json:"service_tier,omitempty"`
	API         API          `json:"api,omitempty" jsonschema:"chat or responses, where a provider has both"`
	Extra       Ordered[Any] `json:"extra,omitempty" jsonschema:"further body fields, sent as they are"`
	Mode        Mode         `json:"mode,omitempty"`
	Concurrency int          `json:"concurrency,omitempty" jsonschema:"live requests in flight"`
	Pause       Duration     `json:"pause,omitempty" jsonschema:"between two live requests"`
	Rate        Rate         `json:"rate,omitempty" jsonschema:"live requests, such as 10/s"`
	StopIf      StopIf       `json:"stop_if,omitempty" jsonschema:"stops the lane when its requests fail: error_rate > 0.1"`
	Label       string       `json:"label,omitempty" jsonschema:"for people"`
	Notes       string       `json:"notes,omitempty" jsonschema:"for people"`
}

// API is which of a provider's APIs a lane uses.
type API string

func (a *API) read(d *decoder, n *node) { *a = API(d.oneOf(n, "chat", "responses")) }

// Thinking is `thinking:` of a lane.
type Thinking struct{ assay.Thinking }

func (t *Thinking) read(d *decoder, n *node) {
	switch {
	case n.kind == kindNull:
	case n.kind == kindBool && n.yes, n.text == "on", n.text == "yes":
		t.Mode = assay.ThinkingOn
	case n.kind == kindBool, n.text == "off", n.text == "no":
		t.Mode = assay.ThinkingOff
	case n.kind == kindNumber && n.num >= 1 && n.num == float64(int(n.num)):
		t.Mode, t.Tokens = assay.ThinkingTokens, int(n.num)
	case n.kind == kindText && n.text != "":
		t.Mode, t.Level = assay.ThinkingLevel, n.text
	default:
		d.wrong(n, "off, on, a number of tokens, or a level")
	}
}

var laneName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// maxLanes bounds a grid; a study with more lanes is surely a mistake in a product of lists.
const maxLanes = 2000

// expandLanes turns lane specs into lanes: defaults under them, variants over them, lists multiplied out.
func (r *run) expandLanes() {
	s := r.study
	for _, spec := range s.LaneSpecs.List {
		if !laneName.MatchString(spec.name) {
			r.problems.Add(spec.at, "letters, digits, . - and _", "lane name %s", quote(spec.name))
			continue
		}
		if spec.node.kind != kindMap {
			r.wrong(spec.node, "a map with `model` and parameters")
			continue
		}
		if len(s.Lanes) > maxLanes {
			break
		}
		r.expandVariants(spec)
	}
	if len(s.Lanes) > maxLanes {
		r.problems.Add(s.LaneSpecs.At, "two lists are a product: check the grids", "more than %d lanes", maxLanes)
		s.Lanes = s.Lanes[:maxLanes]
	}
	first := map[string]assay.Place{}
	for _, l := range s.Lanes {
		if at, ok := first[l.Name]; ok {
			r.problems.Add(l.At, "rename one", "lane %s is here a second time (first at line %d)", l.Name, at.Line)
		}
		first[l.Name] = l.At
	}
}

func (r *run) expandVariants(spec laneSpec) {
	base := overlay(r.study.LaneDefaults.node, spec.node)
	variants := base.child("variants")
	base = without(base, "variants")
	if variants == nil {
		r.expandGrid(spec, spec.name, base)
		return
	}
	if variants.kind != kindMap || len(variants.pairs) == 0 {
		r.wrong(variants, "a map of variants, such as {std: {temperature: 0.8}}")
		return
	}
	for _, v := range variants.pairs {
		if v.val.kind != kindMap {
			r.wrong(v.val, "a map of parameters")
			continue
		}
		at := spec
		at.at = v.at
		r.expandGrid(at, spec.name+"."+v.key, overlay(base, v.val))
	}
}

// expandGrid multiplies the lists of one lane out, in the order they are written.
func (r *run) expandGrid(spec laneSpec, name string, params *node) {
	for i, p := range params.pairs {
		if p.val.kind != kindList || !isAxis(p.key, p.val) {
			continue
		}
		if len(p.val.list) == 0 {
			r.problems.Add(p.val.at, "", "an empty list makes no lane")
		}
		for _, v := range p.val.list {
			one := &node{kind: kindMap, at: params.at, body: params.body, pairs: slices.Clone(params.pairs)}
			one.pairs[i].val = v
			if len(r.study.Lanes) > maxLanes {
				return
			}
			r.expandGrid(spec, name+"."+axisText(v), one)
		}
		return
	}
	r.addLane(spec, name, params)
}

func isAxis(key string, val *node) bool {
	if key == "stop" { // a list of texts is one value; a list of lists is a grid
		return len(val.list) > 0 && val.list[0].kind == kindList
	}
	return true
}

// axisText returns the part of a grid lane's name: the value as written.
func axisText(n *node) string {
	text := n.text
	if n.kind == kindList || n.kind == kindMap {
		text = string(n.json())
	}
	if n.kind == kindNull {
		text = "none"
	}
	text = path.Base(text)
	return strings.Map(func(c rune) rune {
		if c < 128 && laneName.MatchString("a"+string(c)) {
			return c
		}
		return '-'
	}, text)
}

func (r *run) addLane(spec laneSpec, name string, params *node) {
	var k laneKeys
	r.into(params, valueOf(&k))
	at := k.Where
	at.At = spec.at
	lane := Lane{Where: at, Group: spec.name, StopIf: k.StopIf, Live: Live{Concurrency: k.Concurrency, Pause: k.Pause, Rate: k.Rate}}
	lane.Name, lane.Mode, lane.API, lane.Label, lane.Notes = name, assay.Mode(k.Mode), string(k.API), k.Label, k.Notes
	lane.Params = assay.Params{
		Temperature: k.Temperature, TopP: k.TopP, TopK: k.TopK, MaxTokens: k.MaxTokens, Effort: k.Effort,
		Thinking: k.Thinking.Thinking, Thoughts: k.Thoughts, Stop: k.Stop.List, Seed: k.Seed, ServiceTier: k.ServiceTier,
	}
	lane.Params.Schema = r.loadSchema(k.Schema)
	for _, e := range k.Extra {
		if lane.Params.Extra == nil {
			lane.Params.Extra = map[string]json.RawMessage{}
		}
		lane.Params.Extra[e.Name] = e.Value.JSON
	}
	if k.Concurrency < 0 {
		r.problems.Add(k.Key("concurrency"), "leave it out for as many as the provider takes", "concurrency: want at least 1, got %d",
			k.Concurrency)
	}
	if k.MaxTokens < 0 {
		r.problems.Add(k.Key("max_tokens"), "", "max_tokens: want at least 1, got %d", k.MaxTokens)
	}
	if !r.splitModel(&lane, k) {
		return
	}
	r.study.Lanes = append(r.study.Lanes, lane)
}

func (r *run) splitModel(lane *Lane, k laneKeys) bool {
	provider, model, ok := strings.Cut(k.Model, "/")
	if k.Model == "" {
		r.problems.Add(lane.At, "such as model: openai/gpt-5", "lane %s has no model", lane.Name)
		return false
	}
	if !ok || provider == "" || model == "" {
		r.problems.Add(k.Key("model"), "the provider comes first: openai/"+k.Model, "model %s has no provider", quote(k.Model))
		return false
	}
	lane.Provider, lane.Model = provider, model
	return true
}

// overlay is base with the pairs of over on top, in the order of base first.
func overlay(base, over *node) *node {
	out := &node{kind: kindMap, at: over.at, body: over.body}
	if base != nil {
		out.pairs = slices.Clone(base.pairs)
	}
	for _, p := range over.pairs {
		if i := slices.IndexFunc(out.pairs, func(q pair) bool { return q.key == p.key }); i >= 0 {
			out.pairs[i] = p
			continue
		}
		out.pairs = append(out.pairs, p)
	}
	return out
}

func without(n *node, key string) *node {
	out := *n
	out.pairs = slices.DeleteFunc(slices.Clone(n.pairs), func(p pair) bool { return p.key == key })
	return &out
}
