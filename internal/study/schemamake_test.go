package study

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"assay/internal/assay"
	"assay/internal/study/decode"
)

var update = flag.Bool("update", false, "rewrite the schema in docs and in the program")

// The program carries the schema as a text: what makes it from the types is not part of it.
func TestTheSchemaIsTheOneTheTypesMake(t *testing.T) {
	t.Parallel()
	made, err := makeSchema()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]byte{"schema.json": made}
	if want["../../docs/study.schema.json"], err = indented(made); err != nil {
		t.Fatal(err)
	}
	for name, text := range want {
		if *update {
			if err := os.WriteFile(name, text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if have, err := os.ReadFile(name); err != nil || !bytes.Equal(have, text) {
			t.Errorf("%s is stale: make update (%v)", name, err)
		}
	}
}

// makeSchema makes the JSON Schema of a study file from the types that read it.
func makeSchema() ([]byte, error) {
	g := &schemas{types: map[reflect.Type]*jsonschema.Schema{}}
	g.words()
	g.unions()
	g.structures()
	g.lanes()
	root := infer[Study](g)
	if g.err != nil {
		return nil, fmt.Errorf("make the schema of a study: %w", g.err)
	}
	several(root.Properties["stages"].Items, "ask", "compare")
	mend(root)
	root.Schema = "https://json-schema.org/draft/2020-12/schema"
	root.Title = "assay study"
	return json.Marshal(root)
}

// mend takes away the `null` that inference puts beside the alternatives of an optional value, which would forbid them.
func mend(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if len(s.AnyOf) > 0 {
		s.Type, s.Types = "", nil
	}
	for _, p := range s.Properties {
		mend(p)
	}
	for _, a := range s.AnyOf {
		mend(a)
	}
	mend(s.Items)
	mend(s.AdditionalProperties)
}

// schemas collects the schemas of types that read themselves.
type schemas struct {
	types map[reflect.Type]*jsonschema.Schema
	err   error
}

func infer[T any](g *schemas) *jsonschema.Schema {
	s, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: g.types})
	if err != nil {
		g.err = fmt.Errorf("%s: %w", reflect.TypeFor[T](), err)
		return &jsonschema.Schema{}
	}
	return s
}

func put[T any](g *schemas, s *jsonschema.Schema) { g.types[reflect.TypeFor[T]()] = s }

func mapOf[T any](g *schemas) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", AdditionalProperties: infer[T](g)}
	put[decode.Ordered[T]](g, s)
	return s
}

func of(kind string) *jsonschema.Schema { return &jsonschema.Schema{Type: kind} }

func anyOf(s ...*jsonschema.Schema) *jsonschema.Schema { return &jsonschema.Schema{AnyOf: s} }

func enum(words ...string) *jsonschema.Schema {
	s := &jsonschema.Schema{}
	for _, w := range words {
		s.Enum = append(s.Enum, w)
	}
	return s
}

// object returns a map with optional keys and no others.
func object(properties map[string]*jsonschema.Schema) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "object", Properties: properties, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}}
}

func (g *schemas) words() {
	word[Mode](g)
	word[Reserve](g)
	word[Unpriced](g)
	word[DeadlineThen](g)
	word[Missing](g)
	word[Jury](g)
	word[Identical](g)
	word[Order](g)
	word[Reduce](g)
	word[CountAs](g)
	word[API](g)
	word[Detail](g)
	put[Wrap](g, anyOf(enum("on", wrapOff), of("boolean")))
}

func word[T decode.Word](g *schemas) { put[T](g, enum((*new(T)).Words()...)) }

func (g *schemas) unions() {
	scalar := &jsonschema.Schema{Types: []string{"string", "number"}}
	names := anyOf(scalar, &jsonschema.Schema{Type: "array", Items: scalar})
	put[Text](g, scalar)
	put[Prompts](g, anyOf(scalar, &jsonschema.Schema{Type: "object", AdditionalProperties: scalar}))
	put[Names](g, names)
	put[Rows](g, names)
	put[Phrase](g, &jsonschema.Schema{Types: []string{"string", "number", "boolean"}})
	put[Expression](g, &jsonschema.Schema{Types: []string{"string", "boolean"}})
	put[Duration](g, &jsonschema.Schema{Type: "string", Pattern: `^[0-9.]+(ns|us|ms|s|m|h|d)([0-9.]+(ns|us|ms|s|m|h))*$`})
	put[Amount](g, scalar)
	put[assay.Money](g, scalar)
	put[CountOrShare](g, anyOf(of("integer"), &jsonschema.Schema{Type: "string", Pattern: `^[0-9.]+%$`}))
	put[PairList](g, of("string"))
	put[Share](g, anyOf(of("number"), &jsonschema.Schema{Type: "string", Pattern: `^[0-9.]+%$`}))
	put[Rate](g, of("string"))
	put[Points](g, &jsonschema.Schema{Type: "string", Pattern: `^[0-9.]+ *pt$`})
	put[StopIf](g, &jsonschema.Schema{Type: "string", Pattern: `^error_rate *> *[0-9.]+%?$`})
	put[Any](g, &jsonschema.Schema{})
	put[RawSchema](g, &jsonschema.Schema{Types: []string{"string", "object"}})
	put[RawArguments](g, of("object"))
	put[ToolChoice](g, anyOf(enum("auto", "none", "any"), infer[toolChoiceMap](g)))
	put[ServerTool](g, anyOf(of("boolean"), infer[serverToolMap](g)))
	put[ServerTools](g, infer[serverToolsMap](g))
	put[Thinking](g, &jsonschema.Schema{Types: []string{"string", "integer", "boolean"}})
	put[Of](g, anyOf(enum("last", "first", "each", "conversation"), of("integer")))
	put[Labels](g, anyOf(names, &jsonschema.Schema{Type: "object", AdditionalProperties: of("number")}))
	put[Expect](g, anyOf(scalar, object(map[string]*jsonschema.Schema{"field": of("string")})))
	put[Sample](g, anyOf(of("integer"), object(map[string]*jsonschema.Schema{"n": of("integer"), "seed": of("integer")})))
	put[Repeats](g, anyOf(of("integer"),
		object(map[string]*jsonschema.Schema{"n": of("integer"), "reduce": g.types[reflect.TypeFor[Reduce]()]})))
	put[Control](g, anyOf(of("boolean"), object(map[string]*jsonschema.Schema{"say": scalar, "draws": of("integer")})))
	put[LaneChoice](g, anyOf(names, object(map[string]*jsonschema.Schema{"among": names, "where": of("string")})))
	one := anyOf(of("string"), infer[shownMap](g))
	put[Media](g, anyOf(of("string"), infer[shownMap](g), &jsonschema.Schema{Type: "array", Items: one}))
	put[Turn](g, anyOf(scalar, infer[turnMap](g)))
	put[Joins](g, anyOf(infer[Join](g), &jsonschema.Schema{Type: "array", Items: infer[Join](g)}))
	put[Reply](g, anyOf(enum(ReplyJSON, ReplyTag, ReplyLine), infer[replyMap](g)))
	put[Goal](g, anyOf(enum(GoalRanking), infer[goalMap](g)))
	put[Pairs](g, anyOf(enum("all"), infer[Pairs](g)))
}

func (g *schemas) structures() {
	mapOf[Any](g)
	mapOf[decode.Ordered[Any]](g)
	mapOf[string](g)
	mapOf[Names](g)
	mapOf[Provider](g)
	input := infer[Input](g)
	several(input, "of")
	put[decode.Ordered[Input]](g, &jsonschema.Schema{Type: "object", AdditionalProperties: anyOf(of("string"), input)})
	mapOf[Trait](g)
	mapOf[PriceRow](g)
	rubric := infer[Rubric](g)
	mapOf[Rubric](g)
	put[RubricRef](g, anyOf(of("string"), rubric))
}

// several lets keys that name one input also name a list of them.
func several(s *jsonschema.Schema, keys ...string) {
	for _, key := range keys {
		one := s.Properties[key]
		list := anyOf(of("string"), &jsonschema.Schema{Type: "array", Items: of("string")})
		list.Description = one.Description
		s.Properties[key] = list
	}
}

// lanes makes every parameter of a lane also a list (a grid) and null (a default taken away).
func (g *schemas) lanes() {
	keys := infer[LaneKeys](g)
	for name, s := range keys.Properties {
		if name == "extra" || name == "schema" {
			continue
		}
		described := anyOf(s, &jsonschema.Schema{Type: "array", Items: s.CloneSchemas()}, of("null"))
		described.Description, s.Description = s.Description, ""
		keys.Properties[name] = described
	}
	keys.Required = nil
	put[LaneSpec](g, keys)
	lane := keys.CloneSchemas()
	lane.Properties["variants"] = &jsonschema.Schema{
		Type: "object", AdditionalProperties: keys.CloneSchemas(), Description: "named sets of parameters over this lane's",
	}
	put[LaneSpecs](g, anyOf(of("string"), &jsonschema.Schema{Type: "object", AdditionalProperties: lane}))
}
