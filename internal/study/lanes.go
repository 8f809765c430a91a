package study

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/study/decode"
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
	node *decode.Node
}

// Read takes a map of lanes, or the name of a file that holds one.
func (l *LaneSpecs) Read(d *decode.Decoder, n *decode.Node) {
	l.At = n.At
	switch n.Kind {
	case decode.Text:
		l.File = n.Text
	case decode.Map:
		for _, p := range n.Pairs {
			at := p.At
			if at.Line == 0 {
				at = p.Value.At
			}
			l.List = append(l.List, laneSpec{name: p.Key, at: at, node: p.Value})
		}
	default:
		d.Wrong(n, "a map of lanes, or the name of a file that holds one")
	}
}

// LaneSpec is one lane as written; it is read when its grid is expanded.
type LaneSpec struct{ node *decode.Node }

// Read takes anything: lanes are read when their grids are expanded.
func (l *LaneSpec) Read(_ *decode.Decoder, n *decode.Node) { l.node = n }

// laneKeys are the parameters of a lane as a study writes them. Every one but stop, extra and schema may be a list,
// which makes a grid.
type laneKeys struct {
	decode.Where
	Model       string              `json:"model" jsonschema:"provider/model"`
	Temperature *float64            `json:"temperature,omitempty"`
	TopP        *float64            `json:"top_p,omitempty"`
	TopK        *int                `json:"top_k,omitempty"`
	MaxTokens   int                 `json:"max_tokens,omitempty" jsonschema:"most output tokens, thinking included"`
	Effort      string              `json:"effort,omitempty" jsonschema:"reasoning effort by the provider's own word"`
	Thinking    Thinking            `json:"thinking,omitempty" jsonschema:"off, on, a number of tokens, or a level"`
	Thoughts    bool                `json:"thoughts,omitempty" jsonschema:"ask for the thoughts too; they are kept apart"`
	Stop        Names               `json:"stop,omitzero" jsonschema:"texts that end the answer"`
	Seed        *int64              `json:"seed,omitempty"`
	Schema      RawSchema           `json:"schema,omitzero" jsonschema:"JSON Schema of the answer"`
	ServiceTier string              `json:"service_tier,omitempty"`
	API         API                 `json:"api,omitempty" jsonschema:"chat or responses, where a provider has both"`
	Extra       decode.Ordered[Any] `json:"extra,omitempty" jsonschema:"further body fields, sent as they are"`
	Mode        Mode                `json:"mode,omitempty"`
	Concurrency int                 `json:"concurrency,omitempty" jsonschema:"live requests in flight"`
	Pause       Duration            `json:"pause,omitempty" jsonschema:"between two live requests"`
	Rate        Rate                `json:"rate,omitempty" jsonschema:"live requests, such as 10/s"`
	StopIf      StopIf              `json:"stop_if,omitempty" jsonschema:"stops the lane when its requests fail: error_rate > 0.1"`
	Label       string              `json:"label,omitempty" jsonschema:"for people"`
	Notes       string              `json:"notes,omitempty" jsonschema:"for people"`
}

// Thinking is `thinking:` of a lane.
type Thinking struct{ assay.Thinking }

// Read takes a word, a number of tokens, or a level.
func (t *Thinking) Read(d *decode.Decoder, n *decode.Node) {
	switch {
	case n.Kind == decode.Null:
	case n.Kind == decode.Bool && n.Bool, n.Text == "on", n.Text == "yes":
		t.Mode = assay.ThinkingOn
	case n.Kind == decode.Bool, n.Text == "off", n.Text == "no":
		t.Mode = assay.ThinkingOff
	case n.Kind == decode.Number && n.Number >= 1 && n.Number == float64(int(n.Number)):
		t.Mode, t.Tokens = assay.ThinkingTokens, int(n.Number)
	case n.Kind == decode.Text && n.Text != "":
		t.Mode, t.Level = assay.ThinkingLevel, n.Text
	default:
		d.Wrong(n, "off, on, a number of tokens, or a level")
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
			r.Problems.Add(spec.at, "letters, digits, . - and _", "lane name %s", decode.Quote(spec.name))
			continue
		}
		if spec.node.Kind != decode.Map {
			r.Wrong(spec.node, "a map with `model` and parameters")
			continue
		}
		if len(s.Lanes) > maxLanes {
			break
		}
		r.expandVariants(spec)
	}
	if len(s.Lanes) > maxLanes {
		r.Problems.Add(s.LaneSpecs.At, "two lists are a product: check the grids", "more than %d lanes", maxLanes)
		s.Lanes = s.Lanes[:maxLanes]
	}
	first := map[string]assay.Place{}
	for _, l := range s.Lanes {
		if at, ok := first[l.Name]; ok {
			r.Problems.Add(l.At, "rename one", "lane %s is here a second time (first at line %d)", l.Name, at.Line)
		}
		first[l.Name] = l.At
	}
}

func (r *run) expandVariants(spec laneSpec) {
	base := overlay(r.study.LaneDefaults.node, spec.node)
	variants := base.Child("variants")
	base = without(base, "variants")
	if variants == nil {
		r.expandGrid(spec, spec.name, base)
		return
	}
	if variants.Kind != decode.Map || len(variants.Pairs) == 0 {
		r.Wrong(variants, "a map of variants, such as {std: {temperature: 0.8}}")
		return
	}
	for _, v := range variants.Pairs {
		if v.Value.Kind != decode.Map {
			r.Wrong(v.Value, "a map of parameters")
			continue
		}
		at := spec
		at.at = v.At
		r.expandGrid(at, spec.name+"."+v.Key, overlay(base, v.Value))
	}
}

// expandGrid multiplies the lists of one lane out, in the order they are written.
func (r *run) expandGrid(spec laneSpec, name string, params *decode.Node) {
	for i, p := range params.Pairs {
		if p.Value.Kind != decode.List || !isAxis(p.Key, p.Value) {
			continue
		}
		if len(p.Value.List) == 0 {
			r.Problems.Add(p.Value.At, "", "an empty list makes no lane")
		}
		for _, v := range p.Value.List {
			one := &decode.Node{Kind: decode.Map, At: params.At, Body: params.Body, Pairs: slices.Clone(params.Pairs)}
			one.Pairs[i].Value = v
			if len(r.study.Lanes) > maxLanes {
				return
			}
			r.expandGrid(spec, name+"."+axisText(v), one)
		}
		return
	}
	r.addLane(spec, name, params)
}

func isAxis(key string, val *decode.Node) bool {
	if key == "stop" { // a list of texts is one value; a list of lists is a grid
		return len(val.List) > 0 && val.List[0].Kind == decode.List
	}
	return true
}

// axisText returns the part of a grid lane's name: the value as written.
func axisText(n *decode.Node) string {
	text := n.Text
	if n.Kind == decode.List || n.Kind == decode.Map {
		text = string(n.JSON())
	}
	if n.Kind == decode.Null {
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

func (r *run) addLane(spec laneSpec, name string, params *decode.Node) {
	var k laneKeys
	r.Into(params, &k)
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
		r.Problems.Add(k.Key("concurrency"), "leave it out for as many as the provider takes", "concurrency: want at least 1, got %d",
			k.Concurrency)
	}
	if k.MaxTokens < 0 {
		r.Problems.Add(k.Key("max_tokens"), "", "max_tokens: want at least 1, got %d", k.MaxTokens)
	}
	if !r.splitModel(&lane, k) {
		return
	}
	r.study.Lanes = append(r.study.Lanes, lane)
}

func (r *run) splitModel(lane *Lane, k laneKeys) bool {
	provider, model, ok := strings.Cut(k.Model, "/")
	if k.Model == "" {
		r.Problems.Add(lane.At, "such as model: openai/gpt-5", "lane %s has no model", lane.Name)
		return false
	}
	if !ok || provider == "" || model == "" {
		r.Problems.Add(k.Key("model"), "the provider comes first: openai/"+k.Model, "model %s has no provider", decode.Quote(k.Model))
		return false
	}
	lane.Provider, lane.Model = provider, model
	return true
}

// overlay is base with the pairs of over on top, in the order of base first.
func overlay(base, over *decode.Node) *decode.Node {
	out := &decode.Node{Kind: decode.Map, At: over.At, Body: over.Body}
	if base != nil {
		out.Pairs = slices.Clone(base.Pairs)
	}
	for _, p := range over.Pairs {
		if i := slices.IndexFunc(out.Pairs, func(q decode.Pair) bool { return q.Key == p.Key }); i >= 0 {
			out.Pairs[i] = p
			continue
		}
		out.Pairs = append(out.Pairs, p)
	}
	return out
}

func without(n *decode.Node, key string) *decode.Node {
	out := *n
	out.Pairs = slices.DeleteFunc(slices.Clone(n.Pairs), func(p decode.Pair) bool { return p.Key == key })
	return &out
}
