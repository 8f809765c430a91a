package formats

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/results/rows"
	"assay/internal/show/export"
	"assay/internal/show/export/folder"
	"assay/internal/show/export/table"
)

// harnessRow is one line of the samples of lm-evaluation-harness: a document under one filter.
type harnessRow struct {
	ID        json.RawMessage `json:"doc_id"`
	Doc       json.RawMessage `json:"doc"`
	Target    json.RawMessage `json:"target"`
	Arguments map[string]struct {
		Prompt json.RawMessage `json:"arg_0"` // a chat is JSON in a text
	} `json:"arguments"`
	Replies [][]json.RawMessage `json:"resps"` // one list of draws; in tasks of likelihoods, pairs of numbers
	Filter  string              `json:"filter"`
	Metrics []string            `json:"metrics"` // each is a key of its own
}

// harnessName takes the name of a file of samples apart.
var harnessName = regexp.MustCompile(`^samples_(.+)_(\d{4}-\d{2}-\d{2}T[^_]*)\.jsonl$`)

// readHarness reads samples of lm-evaluation-harness. Of several files of one task and folder the newest counts.
func readHarness(ctx context.Context, from export.From, to *export.Sink) error {
	names, err := from.Names(".jsonl")
	if err != nil {
		return err
	}
	newest, tasks := map[string]string{}, map[string]bool{}
	for _, name := range names {
		if m := harnessName.FindStringSubmatch(path.Base(name)); m != nil {
			newest[path.Dir(name)+"\x00"+m[1]] = name // by path: the newest is the last
			tasks[m[1]] = true
		} else if from.File != "" {
			newest["\x00"+strings.TrimSuffix(path.Base(name), ".jsonl")] = name
			tasks[name] = true
		}
	}
	if len(newest) == 0 {
		return export.ErrNothing
	}
	r := &harnessReader{Sink: to, from: from, several: len(tasks) > 1}
	for _, name := range names {
		for at, last := range newest {
			if last != name {
				continue
			}
			_, task, _ := strings.Cut(at, "\x00")
			if err := r.file(ctx, name, task); err != nil {
				return err
			}
		}
	}
	return nil
}

type harnessReader struct {
	*export.Sink
	from    export.From
	several bool // tasks

	lane, stage, input, task string // of the file that is read
}

// errLikelihood is the error for a task without answers.
var errLikelihood = errors.New(
	"it has likelihoods of given texts and no answers: only tasks that generate (output_type generate_until) can be taken in")

func (r *harnessReader) file(ctx context.Context, name, task string) error {
	r.task, r.stage, r.input = task, export.StageName(task, "answers"), "items"
	if r.several { // tasks number their documents alike
		r.input = r.stage + "_items"
	}
	r.lane = cmp.Or(r.from.Lane, r.model(name), "model")
	file, err := r.from.Files.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	var stop error
	err = table.EachLine(file, name, r.Bad, func(at assay.Place, line []byte) error {
		if stop = ctx.Err(); stop == nil {
			stop = r.row(at, export.StrictJSON(line))
		}
		return stop
	})
	switch {
	case errors.Is(stop, errLikelihood):
		r.Bad.At(assay.Place{File: name}, "%v", stop)
	case stop != nil:
		return stop
	case err != nil:
		r.Bad.At(assay.Place{}, "%v", err)
	}
	return nil
}

// model returns the one that the results beside a file name; else its folder, which is called after it.
func (r *harnessReader) model(name string) string {
	m := harnessName.FindStringSubmatch(path.Base(name))
	if m == nil {
		return ""
	}
	var doc struct {
		Model string `json:"model_name"`
	}
	text, err := export.ReadDocument(r.from.Files, path.Join(path.Dir(name), "results_"+m[2]+".json"))
	if err == nil && json.Unmarshal(export.StrictJSON(text), &doc) == nil && doc.Model != "" {
		return export.LaneOfModel(doc.Model)
	}
	if dir := path.Base(path.Dir(name)); dir != "." {
		return export.LaneName(dir[strings.LastIndex(dir, "__")+1:])
	}
	return ""
}

func (r *harnessReader) row(at assay.Place, line []byte) error {
	var row harnessRow
	var all map[string]json.RawMessage
	err := json.Unmarshal(line, &row)
	if err == nil {
		err = json.Unmarshal(line, &all)
	}
	if err != nil {
		r.Bad.At(assay.Place{}, "%v", export.JSONError(at, line, err))
		return nil
	}
	id, ok := export.PlainText(row.ID)
	if !ok || id == "" || len(row.Replies) == 0 {
		r.Bad.At(at, "the line has no doc_id or no resps: it is no sample")
		return nil
	}
	if len(row.Replies) > 1 || len(row.Replies[0]) > 0 && strings.HasPrefix(strings.TrimSpace(string(row.Replies[0][0])), "[") {
		return errLikelihood
	}
	if err := r.doc(&row, id); err != nil {
		return err
	}
	for i, reply := range row.Replies[0] {
		a := &rows.Answer{At: rows.At{Stage: r.stage, Verb: "ask", Input: r.input, Item: id, Lane: r.lane, Turn: 1, Draw: int64(i + 1)},
			Ending: string(assay.Answered)}
		if a.Text, ok = export.PlainText(reply); !ok {
			a.Text = string(reply)
		}
		if a.Text == "" {
			a.Ending = string(assay.Empty)
		}
		if _, err := r.AddAnswer(a); err != nil { // a further filter has the same answers
			return err
		}
	}
	return r.metrics(&row, all, id)
}

// doc hands on the document of a sample, with what was asked.
func (r *harnessReader) doc(row *harnessRow, id string) error {
	fields := map[string]any{}
	var doc map[string]json.RawMessage
	if json.Unmarshal(row.Doc, &doc) == nil {
		for name, v := range doc {
			fields[name] = v
		}
	} else if export.NotEmpty(row.Doc) {
		fields["doc"] = row.Doc
	}
	if prompt, ok := export.PlainText(row.Arguments["gen_args_0"].Prompt); ok {
		fields["text"] = prompt
	}
	packed, err := folder.Marshal(fields)
	if err != nil {
		return err
	}
	target, ok := export.PlainText(row.Target)
	if !ok && export.NotEmpty(row.Target) {
		target = string(row.Target)
	}
	return r.AddItem(&rows.Item{Input: r.input, Item: id, Cluster: id, Expect: target, Fields: rows.Raw(packed)})
}

// metrics hands on the metrics of a filter. They are about all draws of a document, and go with the first.
func (r *harnessReader) metrics(row *harnessRow, all map[string]json.RawMessage, id string) error {
	filter := cmp.Or(row.Filter, "none")
	for _, name := range row.Metrics {
		var n float64
		var yes bool
		switch value := all[name]; {
		case json.Unmarshal(value, &n) == nil && len(value) > 0 && string(value) != "null":
		case json.Unmarshal(value, &yes) == nil && export.NotEmpty(value) || string(value) == "false":
			n = map[bool]float64{true: 1, false: 0}[yes]
		default:
			continue // such as a list for the whole task
		}
		stage := export.StageName(name, "metric")
		if r.several {
			stage = r.stage + "_" + stage
		}
		if stage == r.stage {
			stage += "_score"
		}
		v := &rows.Verdict{
			At:      rows.At{Stage: stage, Verb: "judge", Source: r.stage, Input: r.input, Item: id, Lane: r.lane, Turn: 1, Draw: 1},
			Judging: rows.Judging{Judge: filter}, State: assay.VerdictValid, Score: &n,
			Fields: rows.Raw(fmt.Sprintf(`{"filter":%q}`, assay.Clean(filter, export.MaxShown))),
		}
		if err := r.Verdict(v); err != nil {
			return err
		}
	}
	return nil
}
