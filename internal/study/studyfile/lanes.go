package studyfile

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/study"
	"assay/internal/study/decode"
)

var laneName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// maxLanes bounds a grid; a study with more lanes is surely a mistake in a product of lists.
const maxLanes = 2000

// expandLanes turns lane specs into lanes: defaults under them, variants over them, lists multiplied out.
func (r *reader) expandLanes() {
	s := r.study
	r.wantsMap(s.LaneDefaults.Node)
	for _, spec := range s.LaneSpecs.List {
		if !laneName.MatchString(spec.Name) {
			r.Problems.Add(spec.At, "letters, digits, . - and _", "lane name %s", decode.Quote(spec.Name))
			continue
		}
		if spec.Node.Kind != decode.Map {
			r.Wrong(spec.Node, "a map with `model` and parameters")
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

// wantsMap reports parameters for all lanes that are no map.
func (r *reader) wantsMap(defaults *decode.Node) {
	if defaults != nil && defaults.Kind != decode.Map && defaults.Kind != decode.Null {
		r.Wrong(defaults, "a map of parameters, such as {max_tokens: 500}")
	}
}

func (r *reader) expandVariants(spec study.LaneSpec) {
	base := overlay(r.study.LaneDefaults.Node, spec.Node)
	variants := base.Child("variants")
	base = without(base, "variants")
	if variants == nil {
		r.expandGrid(spec, spec.Name, base)
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
		at.At = v.At
		r.expandGrid(at, spec.Name+"."+v.Key, overlay(base, v.Value))
	}
}

// expandGrid multiplies the lists of one lane out, in the order they are written.
func (r *reader) expandGrid(spec study.LaneSpec, name string, params *decode.Node) {
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

func (r *reader) addLane(spec study.LaneSpec, name string, params *decode.Node) {
	var k study.LaneKeys
	r.Into(params, &k)
	at := k.Where
	at.At = spec.At
	lane := study.Lane{Where: at, Group: spec.Name, StopIf: k.StopIf,
		Live: study.Live{Concurrency: k.Concurrency, Pause: k.Pause, Rate: k.Rate}}
	lane.Name, lane.Mode, lane.API, lane.Label, lane.Notes = name, assay.Mode(k.Mode), string(k.API), k.Label, k.Notes
	lane.Params = assay.Params{
		Temperature: k.Temperature, TopP: k.TopP, TopK: k.TopK, MaxTokens: k.MaxTokens, Effort: k.Effort,
		Thinking: k.Thinking.Thinking, Thoughts: k.Thoughts, Stop: k.Stop.List, Seed: k.Seed, ServiceTier: k.ServiceTier,
		Logprobs: k.Logprobs, ServerTools: k.ServerTools.ServerTools,
	}
	lane.Params.Schema = r.loadSchema(k.Schema)
	for _, e := range k.Extra {
		if lane.Params.Extra == nil {
			lane.Params.Extra = map[string]json.RawMessage{}
		}
		lane.Params.Extra[e.Name] = e.Value.JSON
	}
	if k.Concurrency < 0 || k.Concurrency == 0 && isZero(params, "concurrency") {
		r.Problems.Add(k.Key("concurrency"), "leave it out for as many as the provider takes", "concurrency: want at least 1, got %d",
			k.Concurrency)
	}
	if k.MaxTokens < 0 || k.MaxTokens == 0 && isZero(params, "max_tokens") {
		r.Problems.Add(k.Key("max_tokens"), "", "max_tokens: want at least 1, got %d", k.MaxTokens)
	}
	if k.Has("logprobs") && k.Logprobs < 1 {
		r.Problems.Add(k.Key("logprobs"), "leave it out for none", "logprobs: want at least 1, got %d", k.Logprobs)
	}
	if !r.splitModel(&lane, k) {
		return
	}
	p, _ := r.study.Providers.Find(lane.Provider)
	for _, e := range p.Headers {
		if lane.Params.Headers == nil {
			lane.Params.Headers = map[string]string{}
		}
		lane.Params.Headers[strings.ToLower(e.Name)] = e.Value
	}
	r.study.Lanes = append(r.study.Lanes, lane)
}

func (r *reader) splitModel(lane *study.Lane, k study.LaneKeys) bool {
	provider, model, ok := strings.Cut(k.Model, "/")
	if k.Model == "" {
		r.Problems.Add(lane.At, "such as model: openai/gpt-5", "lane %s has no model", lane.Name)
		return false
	}
	if !ok || provider == "" || model == "" {
		r.Problems.Add(k.Key("model"), "the provider comes first, such as "+withProvider(k.Model), "model %s has no provider",
			decode.Quote(k.Model))
		return false
	}
	lane.Provider, lane.Model = provider, model
	return true
}

// isZero reports whether a key is there with the number 0.
func isZero(n *decode.Node, key string) bool {
	return slices.ContainsFunc(n.Pairs, func(p decode.Pair) bool { return p.Key == key && p.Value.Text == "0" })
}

// withProvider returns a model as it is written, with the provider that its name is known by.
func withProvider(model string) string {
	makers := [][2]string{{"claude", "anthropic"}, {"gemini", "gemini"}, {"mistral", "mistral"}, {"grok", "xai"}, {"deepseek", "deepseek"}}
	for _, m := range append(makers, [2]string{"", "openai"}) {
		if rest, ok := strings.CutPrefix(model, m[1]+":"); ok {
			return m[1] + "/" + rest
		}
		if model == m[1] {
			return model + "/MODEL"
		}
	}
	for _, m := range makers {
		if strings.HasPrefix(model, m[0]) {
			return m[1] + "/" + model
		}
	}
	return "openai/" + model
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
