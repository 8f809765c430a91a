package convert

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// specFile makes a study from the configuration of a judge of a written specification: compliance, or a ranking of models.
func (d *drafter) specFile(doc map[string]any) (*Draft, error) {
	kind, judge, org := "ranking", text(doc["ranking_judge_model_name"]), text(doc["ranking_judge_org"])
	if other := text(doc["compliance_judge_model_name"]); other != "" {
		if judge != "" {
			return nil, errors.New("it names a judge of rankings and one of compliance: make two files of it")
		}
		kind, judge, org = "compliance", other, text(doc["compliance_judge_org"])
	}
	if judge == "" {
		return nil, errors.New("it names no judge: ranking_judge_model_name or compliance_judge_model_name")
	}
	models := d.candidates(doc)
	if kind == "ranking" && len(models) == 1 {
		return nil, fmt.Errorf("a ranking needs two models, and candidate_generation_dirs has only %s", models[0])
	}
	d.line("# Made by assay init from a configuration for specifications. `assay check` shows whether it can be sent, `assay plan` " +
		"for how much.")
	d.line("study: %s", quoted(name(text(doc["spec_name"]), "specification")+"-"+kind))
	d.batchSize(doc)
	d.specInputs(doc)
	if err := d.specLanes(doc, models, judge, org); err != nil {
		return nil, err
	}
	if asked := d.asked(); kind == "ranking" && len(asked) < 2 {
		return nil, fmt.Errorf("a ranking needs two models, and only %s can be asked: %s", strings.Join(asked, ", "), d.left[len(d.left)-1])
	}
	d.line("\nstages:")
	d.line("  - {name: answers, ask: prompts, lanes: %s, prompt: \"{{ text }}\"}", quoted(d.asked()))
	if kind == "ranking" {
		d.line("  - {name: ranking, compare: answers, pairs: {all: true, order: both}, rubric: better, judges: [judge]}")
		d.line("\nanalyses:")
		d.line("  - {of: ranking, method: davidson}")
		d.line("  - {of: ranking, method: win-rate}")
		d.line("  - {of: ranking, method: consistency}")
	} else {
		d.line("  - {name: compliance, judge: answers, rubric: compliance, judges: [judge]}")
		d.line("\nanalyses:")
		d.line("  - {of: compliance, by: [lane]}")
		d.line("  - {of: compliance, by: [group]}")
	}
	d.line("")
	d.specRest(doc)
	return d.draft("specification"), nil
}

// timestamp is a folder that is named after a time.
var timestamp = regexp.MustCompile(`^\d{8}(_\d{4,6})?$`)

// candidates returns the models whose generations the configuration names, and the one that it asks.
func (d *drafter) candidates(doc map[string]any) []string {
	var models []string
	add := func(model string) {
		if model != "" && !slices.Contains(models, model) {
			models = append(models, model)
		}
	}
	for _, raw := range list(doc["candidate_generation_dirs"]) {
		if _, model := generations(text(raw)); model != "." && model != ".." && model != "/" {
			add(model)
		}
	}
	add(text(doc["model_name"]))
	return models
}

// generations takes a folder of generations apart: what it lies in, and the model that it is named after.
func generations(dir string) (above, model string) {
	dir = path.Clean(strings.ReplaceAll(dir, `\`, "/"))
	for timestamp.MatchString(path.Base(dir)) || path.Base(dir) == "results" {
		dir = path.Dir(dir)
	}
	return path.Dir(dir), path.Base(dir)
}

func (d *drafter) batchSize(doc map[string]any) {
	if n, ok := number(doc["batch_size"]); ok && n >= 1 && n == float64(int(n)) {
		d.line("batch: {size: %d}", int(n))
	}
}

// specInputs writes the statements and the inputs that belong to them.
func (d *drafter) specInputs(doc map[string]any) {
	d.line("\ninputs:")
	spec, specOK := d.Find(text(doc["spec_path"]))
	specOK = specOK && spec.First != ""
	inputs, inputsOK := Found{}, false
	if dir := text(doc["pregenerated_inputs_dir"]); dir != "" {
		inputs, inputsOK = d.Find(dir)
	}
	if specOK {
		d.line("  spec: {file: %s}", quoted(spec.Path))
	} else {
		d.omit("  ", "spec_path: there is no %s here", cmp.Or(text(doc["spec_path"]), "such file"))
		d.remark("  ", "Put the statements here, one a line with id and text: spec: {file: spec.jsonl}.")
		d.line(`  spec: {items: [{id: statement_1, text: "What the first statement says."}]}`)
	}
	const join = "join: {with: spec, match: group = id, as: statement}, cluster: group"
	if inputsOK && specOK {
		d.line("  prompts: {file: %s, %s}", quoted(inputs.Path), join)
		return
	}
	d.remark("  ", "Put the inputs here: a folder with one STATEMENT.json each, {\"inputs\": [...]}: prompts: {file: inputs/, ...}.")
	if specOK {
		d.remark("  ", "`group` is the id of the statement that an input is for.")
		d.line("  prompts: {items: [{id: \"1\", group: %s, text: \"An input.\"}], %s}", quoted(spec.First), join)
		return
	}
	d.line("  prompts: {items: [{id: \"1\", group: statement_1, text: \"An input for the first statement.\"}], %s}", join)
}

// specLanes writes the models that are asked, and the judge.
func (d *drafter) specLanes(doc map[string]any, models []string, judge, org string) error {
	d.line("\nlanes:")
	kept := 0
	for _, model := range models {
		l := &lane{}
		var err error
		if l.Name, err = d.fresh(model, "lane"); err != nil {
			return err
		}
		l.Model = model
		if d.lane(l, "") {
			kept++
		} else {
			delete(d.names, l.Name)
		}
	}
	if kept == 0 {
		why := "candidate_generation_dirs names none"
		if len(d.left) > 0 && len(models) > 0 {
			why = d.left[len(d.left)-1]
		}
		return fmt.Errorf("no model is left to ask: %s", why)
	}
	l := &lane{}
	l.Name, l.Model = "judge", judge
	if t, ok := number(doc["temperature"]); ok {
		l.Params.Temperature = &t
		if v, known := d.vendor(org, judge); known && d.refusals(l, v) == "" {
			l.set("temperature", t)
		} else {
			l.Params.Temperature = nil
			d.omit("  ", "temperature %v: %s does not take it", t, judge)
		}
	}
	d.same = map[string]string{} // a judge may be the model of a candidate
	if !d.lane(l, org) {
		return fmt.Errorf("the judge %s cannot be asked: %s", judge, d.left[len(d.left)-1])
	}
	return nil
}

// asked returns the lanes that answer.
func (d *drafter) asked() []string {
	var names []string
	for n := range d.names {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// specRest comments on everything else.
func (d *drafter) specRest(doc map[string]any) {
	var all []string
	for _, raw := range list(doc["candidate_generation_dirs"]) {
		if above, _ := generations(text(raw)); text(raw) != "" && !slices.Contains(all, above) {
			all = append(all, above)
			d.remark("", "The old generations need not be asked again: assay import --format speceval %s reads them into a study "+
				"of their own.", above)
			d.next = append(d.next, "the old generations need not be asked again: assay import --format speceval "+above)
		}
	}
	for _, key := range []string{"openai_api_key", "anthropic_api_key", "google_api_key"} {
		if doc[key] != nil {
			d.omit("", "%s: keys come from the environment (assay keys)", key)
		}
	}
	for _, key := range []string{"input_bucket", "output_bucket"} {
		if doc[key] != nil {
			d.omit("", "%s: buckets belong to `providers: {vertex: ...}`", key)
		}
	}
	if doc["output_dir_base"] != nil {
		d.omit("", "output_dir_base: assay export --out DIR writes files where you want them")
	}
	d.rest("", "file", doc, "spec_name", "spec_path", "candidate_generation_dirs", "ranking_judge_model_name", "ranking_judge_org",
		"compliance_judge_model_name", "compliance_judge_org", "output_dir_base", "batch_size", "temperature", "verbose", "openai_api_key",
		"anthropic_api_key", "google_api_key", "input_bucket", "output_bucket", "pregenerated_inputs_dir", "model_name")
}
