package convert

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"assay/internal/assay"
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
	answered := d.generations(doc)
	made := len(answered) > 1 || len(answered) == 1 && kind != "ranking"
	if !made {
		d.dirs = nil
	}
	d.line("# Made by assay init from a configuration for specifications. `assay check` shows whether it can be sent, `assay plan` " +
		"for how much.")
	d.line("study: %s", quoted(name(text(doc["spec_name"]), "specification")+"-"+kind))
	d.batchSize(doc)
	d.specInputs(doc, made)
	d.line("\nlanes:")
	if made {
		for _, model := range models {
			if !slices.Contains(answered, model) {
				d.omit("  ", "%s: there are no generations of it here", model)
			}
		}
	} else if err := d.specLanes(kind, models); err != nil {
		return nil, err
	}
	asked := d.asked()
	if err := d.judgeLane(doc, judge, org); err != nil {
		return nil, err
	}
	d.line("\nstages:")
	if made {
		of := assay.Clean(strings.Join(answered, ", "), maxComment)
		d.line("  - {name: answers, import: {file: %s, of: prompts}}    # of %s", AnswersFile, of)
	} else {
		d.line("  - {name: answers, ask: prompts, lanes: %s, prompt: \"{{ text }}\"}", quoted(asked))
	}
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
		if model := modelOf(text(raw)); model != "." && model != ".." && model != "/" {
			add(model)
		}
	}
	add(text(doc["model_name"]))
	return models
}

// modelOf returns the model that a folder of generations is named after.
func modelOf(dir string) string {
	dir = path.Clean(strings.ReplaceAll(dir, `\`, "/"))
	for timestamp.MatchString(path.Base(dir)) || path.Base(dir) == "results" {
		dir = path.Dir(dir)
	}
	return path.Base(dir)
}

func (d *drafter) batchSize(doc map[string]any) {
	if n, ok := number(doc["batch_size"]); ok && n >= 1 && n == float64(int(n)) {
		d.line("batch: {size: %d}", int(n))
	}
}

// generations returns the models of which there are generations; their folders are those that the study reads.
func (d *drafter) generations(doc map[string]any) []string {
	for _, raw := range list(doc["candidate_generation_dirs"]) {
		if dir := text(raw); dir != "" {
			d.dirs = append(d.dirs, dir)
		}
	}
	if d.Generations == nil || len(d.dirs) == 0 {
		return nil
	}
	return d.Generations(d.dirs)
}

// specInputs writes the statements and the inputs that belong to them: those of generations that were made, or of a folder.
func (d *drafter) specInputs(doc map[string]any, made bool) {
	d.line("\ninputs:")
	spec, ok := d.Find(cmp.Or(text(doc["spec_path"]), "spec.jsonl"))
	if !ok {
		d.omit("  ", "spec_path: there is no %s here", cmp.Or(text(doc["spec_path"]), "such file"))
		d.remark("  ", "Put the statements there, one a line with id and text.")
	}
	d.line("  spec: {file: %s}", quoted(spec.Path))
	const join = "join: {with: spec, match: group = id, as: statement}, cluster: group"
	if made {
		d.line("  prompts: {file: %s, %s}", ItemsFile, join)
		return
	}
	inputs, ok := d.Find(cmp.Or(text(doc["pregenerated_inputs_dir"]), "inputs/"))
	if !ok {
		d.remark("  ", "Put the inputs there: a folder with one STATEMENT.json each, {\"inputs\": [...]}.")
	}
	d.line("  prompts: {file: %s, %s}", quoted(inputs.Path), join)
}

// specLanes writes the models that are asked.
func (d *drafter) specLanes(kind string, models []string) error {
	for _, model := range models {
		l := &lane{}
		var err error
		if l.Name, err = d.fresh(model, "lane"); err != nil {
			return err
		}
		l.Model = model
		if !d.lane(l, "") {
			delete(d.names, l.Name)
		}
	}
	asked, why := d.asked(), "candidate_generation_dirs names none"
	if len(d.left) > 0 && len(models) > 0 {
		why = d.left[len(d.left)-1]
	}
	switch {
	case len(asked) == 0:
		return fmt.Errorf("no model is left to ask: %s", why)
	case kind == "ranking" && len(asked) < 2:
		return fmt.Errorf("a ranking needs two models, and only %s can be asked: %s", strings.Join(asked, ", "), why)
	}
	return nil
}

// judgeLane writes the judge.
func (d *drafter) judgeLane(doc map[string]any, judge, org string) error {
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
	for _, key := range []string{"openai_api_key", "anthropic_api_key", "google_api_key"} {
		if doc[key] != nil {
			d.omit("", "%s: keys come from the environment (assay list keys)", key)
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
