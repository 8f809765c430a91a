// Package studyfolder makes the folder of a study from results that were read, and loads its verdicts into a run.
package studyfolder

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/results/rows"
	"assay/internal/judge"
	"assay/internal/send/script/people"
	"assay/internal/show/export"
	"assay/internal/show/export/folder"
	"assay/internal/show/export/table"
	"assay/internal/study"
)

// The files of a study that was made from results of another program.
const (
	StudyFile    = "study.yaml"
	AnswersFile  = "answers.jsonl"
	VerdictsFile = "verdicts.jsonl"
)

// Folder writes what is taken in as the folder of a study: items by input, answers, verdicts, and the study itself.
type Folder struct {
	Rehearsal bool              // the results come from a simulator
	Analyses  []export.Analysis // of the study that they come from; those of stages that are not there are left out

	tree     *folder.Tree
	inputs   map[string]*folderInput
	answers  table.Table[rows.Answer]
	verdicts table.Table[rows.Verdict]
	files    []io.Closer
	stages   map[string]string // of answers: their input
	exact    map[string]bool   // stages of answers whose rows are all that was asked
	judges   map[string]*folderStage
	order    []string // of stages, as they came
	Answers  int64
	Verdicts int64
	Failed   Failures // rows that are no answers
}

type folderInput struct {
	file    io.WriteCloser
	out     *json.Encoder
	expects bool
}

// folderStage collects the labels, scores, judges and sources of a stage of verdicts.
type folderStage struct {
	verb, input     string
	sources         map[string]bool
	labels          map[string]float64
	bare            bool // a valid verdict has no label
	low, high       float64
	whole           bool
	prompts, traits map[string]bool
	turns           map[int64]bool
	judges          map[string]bool
}

// New begins the folder of a study.
func New(t *folder.Tree) (*Folder, error) {
	f := &Folder{tree: t, inputs: map[string]*folderInput{}, stages: map[string]string{}, exact: map[string]bool{},
		judges: map[string]*folderStage{}, Failed: Failures{}}
	answers, err := t.Create(AnswersFile)
	if err != nil {
		return nil, err
	}
	verdicts, err := t.Create(VerdictsFile)
	if err != nil {
		return nil, err
	}
	f.files = []io.Closer{answers, verdicts}
	f.answers, f.verdicts = table.NewLines[rows.Answer](answers), table.NewLines[rows.Verdict](verdicts)
	return f, nil
}

// Sink returns what files are read into.
func (f *Folder) Sink(bad table.Report) *export.Sink {
	return &export.Sink{Item: f.item, Answer: f.answer, Verdict: f.verdict, Bad: bad}
}

func (f *Folder) item(it *rows.Item) error {
	in, ok := f.inputs[it.Input]
	if !ok {
		file, err := f.tree.Create("items/" + export.StageName(it.Input, "items") + ".jsonl")
		if err != nil {
			return err
		}
		in = &folderInput{file: file, out: json.NewEncoder(file)}
		in.out.SetEscapeHTML(false)
		f.inputs[it.Input] = in
	}
	fields := map[string]any{}
	if it.Fields != "" {
		d := json.NewDecoder(bytes.NewReader([]byte(it.Fields)))
		d.UseNumber()
		if err := d.Decode(&fields); err != nil {
			return fmt.Errorf("the fields of item %q: %w", it.Item, err)
		}
	}
	if _, ok := fields["text"]; !ok {
		fields["text"] = ""
	}
	fields["id"], fields["_cluster"], fields["_expect"] = it.Item, it.Cluster, it.Expect
	if it.Cluster == "" {
		fields["_cluster"] = it.Item
	}
	in.expects = in.expects || it.Expect != ""
	return in.out.Encode(fields)
}

func (f *Folder) answer(r *rows.Answer) error {
	if _, ok := f.stages[r.Stage]; !ok {
		f.stages[r.Stage] = r.Input
		f.order = append(f.order, r.Stage)
	}
	f.Rehearsal = f.Rehearsal || r.Rehearsal
	f.exact[r.Stage] = r.Verb != ""
	row := *r
	row.Verdicts, row.Model = nil, r.AnsweredModel
	if row.Ending == "" && row.Text != "" {
		row.Ending = string(assay.Answered)
	}
	if assay.Ending(row.Ending).Stands() {
		f.Answers++
	} else {
		f.Failed[row.Ending]++
	}
	return f.answers.Write(&row)
}

func (f *Folder) verdict(v *rows.Verdict) error {
	s, ok := f.judges[v.Stage]
	if !ok {
		s = &folderStage{
			verb: v.Verb, input: v.Input, sources: map[string]bool{}, labels: map[string]float64{}, low: math.Inf(1), high: math.Inf(-1),
			whole: true, prompts: map[string]bool{}, traits: map[string]bool{}, turns: map[int64]bool{}, judges: map[string]bool{},
		}
		f.judges[v.Stage] = s
		f.order = append(f.order, v.Stage)
	}
	row := *v
	if row.Source == "" && row.Verb != "compare" {
		row.Source = "answers"
	}
	if !strings.HasPrefix(row.Judge, people.Prefix) && !strings.HasPrefix(row.Judge, study.ImportedJudge) {
		row.Judge = study.ImportedJudge + row.Judge
	}
	s.note(&row)
	f.Rehearsal = f.Rehearsal || v.Rehearsal
	f.Verdicts++
	return f.verdicts.Write(&row)
}

func (s *folderStage) note(v *rows.Verdict) {
	if v.Source != "" {
		s.sources[v.Source] = true
	}
	s.prompts[v.Prompt], s.traits[v.Trait], s.turns[v.Turn], s.judges[v.Judge] = true, true, true, true
	if v.State != assay.VerdictValid {
		return
	}
	if v.Label == "" {
		s.bare = true
	} else if _, ok := s.labels[v.Label]; !ok {
		s.labels[v.Label] = math.NaN()
	}
	if v.Score != nil {
		if v.Label != "" {
			s.labels[v.Label] = *v.Score
		}
		s.low, s.high = min(s.low, *v.Score), max(s.high, *v.Score)
		s.whole = s.whole && *v.Score == math.Trunc(*v.Score)
	}
}

// Close ends all files and writes the study.
func (f *Folder) Close(study, about string) error {
	for _, close := range []func() error{f.answers.Close, f.verdicts.Close} {
		if err := close(); err != nil {
			return err
		}
	}
	for _, in := range f.inputs {
		f.files = append(f.files, in.file)
	}
	for _, file := range f.files {
		if err := file.Close(); err != nil {
			return err
		}
	}
	out, err := f.tree.Create(StudyFile)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(out, f.yaml(study, about)); err != nil {
		return err
	}
	return out.Close()
}

// Data returns the files of the folder that hold what was taken in.
func (f *Folder) Data() []string {
	names := []string{AnswersFile, VerdictsFile}
	for _, name := range slices.Sorted(maps.Keys(f.inputs)) {
		names = append(names, "items/"+export.StageName(name, "items")+".jsonl")
	}
	return names
}

// yaml returns the study. Every value is written as JSON, which is YAML.
func (f *Folder) yaml(study, about string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "study: %s\ndescription: %s\ninputs:\n", quoted(study), quoted(about))
	for _, name := range slices.Sorted(maps.Keys(f.inputs)) {
		in := export.StageName(name, "items")
		fmt.Fprintf(&b, "  %s: {file: items/%s.jsonl, id: id, cluster: _cluster", in, in)
		if f.inputs[name].expects {
			b.WriteString(", expect: {field: _expect}")
		}
		b.WriteString("}\n")
	}
	if traits := f.ownTraits(); len(traits) > 0 {
		b.WriteString("traits:\n")
		for _, t := range traits {
			fmt.Fprintf(&b, "  %s: {name: %s, description: %s}\n", quoted(t), quoted(t),
				quoted("imported; its description is not in the files"))
		}
	}
	b.WriteString("stages:\n")
	for _, name := range f.order {
		if input, ok := f.stages[name]; ok {
			asked := ""
			if f.exact[name] {
				asked = ", asked: rows"
			}
			fmt.Fprintf(&b, "  - name: %s\n    import: {file: %s, of: %s, where: %s%s}\n", name, AnswersFile,
				export.StageName(input, "items"), quoted("stage == "+quoted(name)), asked)
		}
	}
	for _, name := range f.order {
		if s, ok := f.judges[name]; ok {
			b.WriteString(s.yaml(name))
		}
	}
	declared := slices.DeleteFunc(slices.Clone(f.Analyses), func(a export.Analysis) bool { return f.judges[a.Of] == nil })
	if len(declared) > 0 {
		b.WriteString("analyses:\n")
	}
	for _, a := range declared {
		fmt.Fprintf(&b, "  - %s\n", quoted(a))
	}
	return b.String()
}

func (f *Folder) ownTraits() []string {
	own := map[string]bool{}
	for _, s := range f.judges {
		for t := range s.traits {
			if t != "" && t != "overall_quality" && t != "organization" {
				own[t] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(own))
}

func (s *folderStage) yaml(name string) string {
	var b strings.Builder
	sources := slices.Sorted(maps.Keys(s.sources))
	if s.verb == "compare" {
		of := export.StageName(s.input, "items")
		if len(sources) == 1 {
			of = sources[0]
		}
		fmt.Fprintf(&b, "  - name: %s\n    compare: %s\n    rubric: better\n    pairs: all\n", name, of)
		if traits := named(s.traits); len(traits) > 0 {
			fmt.Fprintf(&b, "    trait: %s\n", quoted(traits))
		}
		if prompts := named(s.prompts); len(prompts) > 0 {
			b.WriteString("    prompt:\n")
			for _, p := range prompts {
				fmt.Fprintf(&b, "      %s: %s\n", quoted(p), quoted(judge.NotInFiles+" {{ a.text }} {{ b.text }}"))
			}
		}
	} else {
		fmt.Fprintf(&b, "  - name: %s\n    judge: %s\n    rubric: %s\n", name, quoted(sources), s.rubric())
		if len(s.turns) > 1 {
			b.WriteString("    of: each\n")
		}
	}
	fmt.Fprintf(&b, "    judges: %s\n", quoted(slices.Sorted(maps.Keys(s.judges)))) // by name: how much they were asked is not in the files
	return b.String()
}

// named returns the names that are not empty.
func named(set map[string]bool) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(set)), func(n string) bool { return n == "" })
}

// rubric returns the built-in rubric whose labels the verdicts have, else one with the labels and scores that they have.
func (s *folderStage) rubric() string {
	only := func(names ...string) bool {
		for l := range s.labels {
			if !slices.Contains(names, l) {
				return false
			}
		}
		return len(s.labels) > 0 && !s.bare && len(named(s.prompts)) == 0
	}
	switch {
	case only("no_flip", "soft_flip", "explicit_flip"):
		return "flip"
	case only("safe", "unsafe", "unclear"):
		return "stance"
	case len(s.labels) == 0 && s.whole && s.low >= 1 && s.high <= 5 && len(named(s.prompts)) == 0:
		return "likert"
	}
	prompt := fmt.Sprintf("prompt: %s", quoted(judge.NotInFiles+" {{ answer.text }}"))
	if prompts := named(s.prompts); len(prompts) > 0 {
		var all []string
		for _, p := range prompts {
			all = append(all, fmt.Sprintf("%s: %s", quoted(p), quoted(judge.NotInFiles+" {{ answer.text }}")))
		}
		prompt = "prompt: {" + strings.Join(all, ", ") + "}"
	}
	if len(s.labels) == 0 {
		return "{" + prompt + `, score: score, schema: {type: object, properties: {score: {type: number}}}}`
	}
	var labels []string
	scored := true
	for _, l := range slices.Sorted(maps.Keys(s.labels)) {
		scored = scored && !math.IsNaN(s.labels[l])
		labels = append(labels, l)
	}
	if only("compliant", "noncompliant") {
		return "{" + prompt + ", labels: {compliant: 1, noncompliant: 0}}"
	}
	if !scored {
		return "{" + prompt + ", labels: " + quoted(labels) + "}"
	}
	for i, l := range labels {
		labels[i] = fmt.Sprintf("%s: %v", quoted(l), s.labels[l])
	}
	return "{" + prompt + ", labels: {" + strings.Join(labels, ", ") + "}}"
}

// quoted returns a value in JSON, which YAML reads as it is.
func quoted(v any) string {
	text, err := folder.Marshal(v)
	if err != nil {
		return `""`
	}
	return string(text)
}

// Failures counts rows by how they ended, in the order of the endings.
type Failures map[string]int64

func (f Failures) String() string {
	text := ""
	for _, e := range append(assay.Endings(), rows.Unasked, "") {
		n, ok := f[string(e)]
		if !ok {
			continue
		}
		if text != "" {
			text += ", "
		}
		text += fmt.Sprintf("%s %s", assay.Thousands(n), cmp.Or(string(e), "without a result"))
	}
	return text
}

// Sum returns how many rows there are.
func (f Failures) Sum() (n int64) {
	for _, k := range f {
		n += k
	}
	return n
}
