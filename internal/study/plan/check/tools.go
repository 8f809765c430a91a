package check

import (
	"encoding/json"
	"maps"
	"slices"

	"assay/internal/assay"
	"assay/internal/study"
	"assay/internal/study/plan"
)

// checkCallable holds the tools of a stage against the lanes that are to call them.
func (d checker) checkCallable(st *study.Stage, problems *assay.Problems) {
	if len(st.Tools) == 0 {
		return
	}
	for _, t := range st.Tools {
		if err := plan.CheckSchema(t.Parameters.JSON); err != nil {
			problems.Add(t.Where.Key("parameters"), "a JSON Schema such as {type: object, properties: {city: {type: string}}}",
				"tool %s: its parameters are no schema: %s", t.Name, err)
			continue
		}
		if t.Strict != nil && *t.Strict {
			if why := loose(t.Parameters.JSON); why != "" {
				problems.Add(t.Where.Key("strict"), "every object has additionalProperties: false, and all of its properties are required",
					"tool %s: providers refuse strict with this schema: %s", t.Name, why)
			}
		}
	}
	for _, l := range d.uses(st) {
		kind, ok := d.Kind(l)
		if !ok {
			continue
		}
		modes := []assay.Mode{d.Mode(st, l)}
		if modes[0] == assay.ModeBatch && d.Study.Deadline != nil {
			modes = append(modes, assay.ModeLive)
		}
		for _, rule := range d.Catalog.ToolTrouble(l.Lane, kind, st.ToolChoice.Forced(), slices.Contains(modes, assay.ModeBatch)) {
			problems.Add(st.Where.Key(rule.Param), rule.Hint, "stage %s, lane %s: %s", st.Name, l.Name, rule.What)
		}
	}
}

// checkServed warns of tools that a provider is to run in a batch, where nobody knows whether it does.
func checkServed(d checker, problems *assay.Problems) {
	for i := range d.Study.Lanes {
		l := &d.Study.Lanes[i]
		kind, _ := d.Kind(l)
		batched := slices.ContainsFunc(d.Study.Stages, func(st study.Stage) bool {
			return slices.Contains(d.uses(&st), l) && d.Mode(&st, l) == assay.ModeBatch
		})
		for _, rule := range d.Catalog.Unsure(l.Lane, kind) {
			if batched {
				problems.Warn(l.Where.Key(rule.Param), rule.Hint, "lane %s: %s", l.Name, rule.What)
			}
		}
	}
}

// loose returns why arguments cannot be held to a schema, as OpenAI and those who copy it see it; empty: they can.
func loose(schema []byte) string {
	var top any
	if json.Unmarshal(schema, &top) != nil {
		return ""
	}
	return looseAt("parameters", top)
}

func looseAt(place string, v any) string {
	node, _ := v.(map[string]any)
	properties, _ := node["properties"].(map[string]any)
	if node["type"] == "object" || properties != nil {
		if closed, is := node["additionalProperties"].(bool); !is || closed {
			return place + " may have other properties"
		}
		required, _ := node["required"].([]any)
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			if !slices.Contains(required, any(name)) {
				return place + "." + name + " is not required"
			}
			if why := looseAt(place+"."+name, properties[name]); why != "" {
				return why
			}
		}
	}
	if node["items"] != nil {
		return looseAt(place+".items", node["items"])
	}
	return ""
}
