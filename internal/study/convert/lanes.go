package convert

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// lanesFile makes a study from a file of lanes: models with variants of their parameters, all asked the same prompts.
func (d *drafter) lanesFile(doc map[string]any) (*Draft, error) {
	e := object(doc["experiment"])
	models := list(e["models"])
	if len(models) == 0 {
		return nil, errors.New("experiment.models lists no model")
	}
	d.line("# Made by assay init from a file of lanes. `assay check` shows whether it can be sent, `assay plan` for how much.")
	d.line("study: %s", quoted(name(text(e["name"]), "lanes")))
	if about := text(e["description"]); about != "" {
		d.line("description: %s", quoted(about))
	}
	d.mode(object(doc["execution"]))
	template := d.prompts(text(e["prompts_source"]))
	d.line("\nlanes:")
	kept, total := 0, 0
	for i, m := range models {
		k, n, err := d.model(object(m), i+1)
		if err != nil {
			return nil, err
		}
		kept, total = kept+k, total+n
	}
	if kept == 0 {
		return nil, fmt.Errorf("none of its %d lanes can be asked: %s", total, d.left[len(d.left)-1])
	}
	d.line("\nstages:")
	d.line("  - name: answers")
	d.line("    ask: prompts")
	d.line("    prompt: %s", quoted(template))
	if kept > 1 {
		d.line("  - name: arena                       # blind: A, B or a tie, by people: assay label")
		d.line("    compare: answers")
		d.line("    pairs: all")
		d.line("    rubric: better")
		d.line(`    judges: ["human:*"]`)
		d.line("\nanalyses:")
		d.line("  - {of: arena, method: elo}")
	}
	d.line("")
	d.rest("", "experiment", e, "name", "description", "prompts_source", "total_prompts", "models")
	if object(doc["validation"]) != nil {
		d.omit("", "validation: assay check has the providers' own rules")
	}
	for _, key := range []string{"experiment", "validation", "execution"} {
		delete(doc, key)
	}
	d.rest("", "file", doc)
	return d.draft("lanes"), nil
}

// mode takes how requests are sent.
func (d *drafter) mode(m map[string]any) {
	batch, said := m["batch_mode"].(bool)
	if said && !batch {
		d.line("mode: live")
		if n, ok := number(m["concurrency"]); ok && n >= 1 && n == float64(int(n)) {
			d.line("lane_defaults: {concurrency: %d}", int(n))
		}
	} else if m["concurrency"] != nil {
		d.omit("", "execution.concurrency: requests go out as batches")
	}
	if on, _ := m["enable_cache"].(bool); on {
		d.remark("", "Prompt caching needs no switch: put what all prompts share under `context:` of the stage.")
	}
	d.rest("", "execution", m, "batch_mode", "concurrency", "enable_cache")
}

// prompts writes the input, and returns a template that its items have the fields for.
func (d *drafter) prompts(source string) string {
	d.line("\ninputs:")
	found, ok := d.Find(cmp.Or(source, "prompts.csv"))
	if !ok {
		if source != "" {
			d.omit("  ", "experiment.prompts_source: there is no %s here", source)
		}
		d.remark("  ", "Put your prompts there, or name another file or folder.")
		d.line("  prompts: {file: %s}", quoted(found.Path))
		return "{{ text }}"
	}
	id := ""
	if slices.Contains(found.Fields, "metadata") {
		id = ", id: metadata.chunk_id"
	}
	d.line("  prompts: {file: %s%s}", quoted(found.Path), id)
	for _, field := range []string{"text", "prompt"} {
		if slices.Contains(found.Fields, field) {
			return "{{ " + field + " }}"
		}
	}
	d.omit("  ", "the words of the prompt: the program made them itself; write them under `prompt:` of the stage, for now it sends one "+
		"field as JSON")
	return "{{ " + cmp.Or(first(found.Fields, "id", "metadata", "group"), "text") + " | tojson }}"
}

// first returns the first of some names that is none of others.
func first(names []string, others ...string) string {
	for _, n := range names {
		if !slices.Contains(others, n) {
			return n
		}
	}
	return ""
}

// model writes the lanes of one model; it returns how many of how many.
func (d *drafter) model(m map[string]any, no int) (kept, total int, err error) {
	model, provider := text(m["model_name"]), text(m["provider"])
	lanes := list(m["lanes"])
	switch {
	case model == "":
		return 0, 0, fmt.Errorf("model %d has no model_name, but %s", no, keysOf(m))
	case len(lanes) == 0:
		return 0, 0, fmt.Errorf("model %d (%s) has no lanes", no, model)
	}
	if about := cmp.Or(text(m["description"]), text(m["id"])); about != "" {
		d.remark("  ", "%s", about)
	}
	for i, raw := range lanes {
		one := object(raw)
		id := text(one["lane_id"])
		if id == "" {
			return 0, 0, fmt.Errorf("lane %d of model %d (%s) has no lane_id, but %s", i+1, no, model, keysOf(one))
		}
		l := &lane{}
		if l.Name, err = d.fresh(id, "lane"); err != nil {
			return 0, 0, err
		}
		l.Model = model
		l.params(object(one["params"]))
		if said := text(one["label"]); said != "" {
			l.about = append(l.about, "label: "+quoted(said))
		}
		if said := text(one["description"]); said != "" {
			l.about = append(l.about, "notes: "+quoted(said))
		}
		total++
		if d.lane(l, provider) {
			kept++
		}
		d.rest("  ", "lane "+l.Name, one, "lane_id", "label", "description", "params")
	}
	d.rest("  ", "model "+model, m, "id", "provider", "model_name", "description", "lanes")
	return kept, total, nil
}

// keysOf returns the keys of an object, in order.
func keysOf(m map[string]any) string {
	return cmp.Or(strings.Join(slices.Sorted(maps.Keys(m)), ", "), "nothing")
}
