// Package pairwise writes and reads the folders of pairwiseLLM.
package pairwise

import (
	"cmp"
	"context"
	"encoding/json"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/results/rows"
	"assay/internal/show/export"
	"assay/internal/show/export/table"
)

// comparison is one row of the results of the pairwise system. The columns after reasoning_tokens are ours.
type comparison struct {
	CustomID     string             `json:"custom_id"`
	ID1          string             `json:"ID1"`
	ID2          string             `json:"ID2"`
	Model        string             `json:"model"`
	ObjectType   string             `json:"object_type"`
	StatusCode   *int64             `json:"status_code"`
	ErrorMessage string             `json:"error_message"`
	Thoughts     string             `json:"thoughts"`
	Content      string             `json:"content"`
	BetterSample string             `json:"better_sample"` // SAMPLE_1, SAMPLE_2 or TIE; empty: nothing could be read
	BetterID     string             `json:"better_id"`
	Prompt       *int64             `json:"prompt_tokens"`
	Completion   *int64             `json:"completion_tokens"`
	Total        *int64             `json:"total_tokens"`
	Cached       *int64             `json:"prompt_cached_tokens"`
	Reasoning    *int64             `json:"reasoning_tokens"`
	Stage        string             `json:"stage"`
	Item         string             `json:"item"` // on which two lanes met; empty: the two are items
	Trait        string             `json:"trait"`
	State        assay.VerdictState `json:"state"`
	Reason       string             `json:"reason"`
}

// samplePair is one row of batch_NN_pairs.csv: two samples as they were shown.
type samplePair struct {
	ID1   string `json:"ID1"`
	Text1 string `json:"text1"`
	ID2   string `json:"ID2"`
	Text2 string `json:"text2"`
	Item  string `json:"item"` // ours: on which two lanes met; empty: the two are items
}

// mergedComparison is a row of the merged table over all runs.
type mergedComparison struct {
	CustomID     string             `json:"custom_id"`
	ID1          string             `json:"ID1"`
	ID2          string             `json:"ID2"`
	Model        string             `json:"model"`
	ObjectType   string             `json:"object_type"`
	StatusCode   *int64             `json:"status_code"`
	ErrorMessage string             `json:"error_message"`
	Thoughts     string             `json:"thoughts"`
	Content      string             `json:"content"`
	BetterSample string             `json:"better_sample"`
	BetterID     string             `json:"better_id"`
	Prompt       *int64             `json:"prompt_tokens"`
	Completion   *int64             `json:"completion_tokens"`
	Total        *int64             `json:"total_tokens"`
	Cached       *int64             `json:"prompt_cached_tokens"`
	Reasoning    *int64             `json:"reasoning_tokens"`
	Stage        string             `json:"stage"`
	Item         string             `json:"item"`
	Trait        string             `json:"trait"`
	State        assay.VerdictState `json:"state"`
	Reason       string             `json:"reason"`
	TemplateID   string             `json:"template_id"`
	Provider     string             `json:"provider"`
	Judge        string             `json:"judge"`
	Thinking     string             `json:"thinking"`
	Direction    string             `json:"direction"`
	RunID        string             `json:"run_id"`
}

// registryJob is one row of jobs_registry.csv.
type registryJob struct {
	Segment    int64  `json:"segment_index"`
	Provider   string `json:"provider"`
	Model      string `json:"model"`
	BatchID    string `json:"batch_id"`
	InputPath  string `json:"batch_input_path"`
	OutputPath string `json:"batch_output_path"`
	CSVPath    string `json:"csv_path"`
	PairsPath  string `json:"pairs_path"`
	Done       string `json:"done"` // TRUE or FALSE
}

// manifestRun is one row of run_manifest.csv: one cell of template, judge, thinking and direction.
type manifestRun struct {
	RunID      string `json:"run_id"`
	TemplateID string `json:"template_id"`
	Provider   string `json:"provider"`
	Model      string `json:"model"`
	Thinking   string `json:"thinking"`
	Direction  string `json:"direction"`
	RunDir     string `json:"run_dir"`
	Registry   string `json:"registry_path"`
	Study      string `json:"study"`
	Run        string `json:"run"`
	Stage      string `json:"stage"`
	Judge      string `json:"judge"`
}

// The words of the pairwise system.
const (
	sample1      = "SAMPLE_1"
	sample2      = "SAMPLE_2"
	sampleTie    = "TIE"
	withThinking = "with_thinking"
	noThinking   = "no_thinking"
)

var unsafeInRunID = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)

// cellID returns the id of a cell of the grid, which is also its folder: safe as a file name, its parts apart by two underscores.
func cellID(parts ...string) string {
	return strings.TrimLeft(unsafeInRunID.ReplaceAllString(strings.Join(parts, "__"), "-"), ".-")
}

// inputName is the input of a study made from the files of the pairwise system.
const inputName = "samples"

// Read reads the files of the pairwise system: the merged table where there is one, else the combined results of
// each run, else the results of each segment. A comparison without a winner is malformed or failed, never left out.
func Read(ctx context.Context, from export.From, to *export.Sink) error {
	if from.File != "" {
		return export.ErrFile
	}
	tree := from.Files
	names, err := export.FilesUnder(tree, ".csv")
	if err != nil {
		return err
	}
	p := &reader{Sink: to, votes: map[string]int64{}}
	for _, name := range names {
		if base := path.Base(name); strings.HasPrefix(base, "batch_") && strings.HasSuffix(base, "_pairs.csv") {
			if err := p.samples(ctx, tree, name); err != nil {
				return err
			}
		}
	}
	for _, want := range []func(base string) bool{
		func(base string) bool { return base == "combined_all_runs.csv" },
		func(base string) bool { return base == "combined_results.csv" },
		func(base string) bool {
			return strings.HasPrefix(base, "batch_") && strings.HasSuffix(base, "_results.csv")
		},
	} {
		for _, name := range names {
			if !want(path.Base(name)) {
				continue
			}
			if err := p.file(ctx, tree, name); err != nil {
				return err
			}
		}
		if p.found > 0 {
			return nil
		}
	}
	return export.ErrNothing
}

type reader struct {
	*export.Sink
	votes map[string]int64 // comparisons of the same two in the same place so far
	found int
}

// samples takes the texts of samples from a file of pairs.
func (p *reader) samples(ctx context.Context, tree fs.FS, name string) error {
	for row, err := range table.Rows[samplePair](ctx, table.CSV, tree, name, p.Bad) {
		if err != nil {
			return err
		}
		for _, s := range [][2]string{{row.ID1, row.Text1}, {row.ID2, row.Text2}} {
			if s[0] == "" || row.Item != "" { // a lane has another text on every item
				continue
			}
			if err := p.sample(s[0], s[1]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *reader) sample(id, text string) error {
	fields, err := json.Marshal(map[string]any{"text": text})
	if err != nil {
		return err
	}
	return p.AddItem(&rows.Item{Input: inputName, Item: id, Cluster: id, Fields: rows.Raw(fields)})
}

func (p *reader) file(ctx context.Context, tree fs.FS, name string) error {
	cell := strings.Split(path.Base(path.Dir(name)), "__")
	for row, err := range table.Rows[mergedComparison](ctx, table.CSV, tree, name, p.Bad) {
		if err != nil {
			return err
		}
		if row.ID1 == "" || row.ID2 == "" || row.ID1 == row.ID2 {
			p.Bad.At(assay.Place{File: name}, "comparison %q does not name two samples", row.CustomID)
			continue
		}
		if len(cell) >= 5 && row.TemplateID == "" { // the name of the folder has what the row lacks
			row.TemplateID, row.Provider = cell[0], cell[1]
			row.Judge = cmp.Or(row.Judge, strings.Join(cell[2:4], "."))
		}
		p.found++
		if err := p.take(row); err != nil {
			return err
		}
	}
	return nil
}

func (p *reader) take(row *mergedComparison) error {
	for _, id := range []string{row.ID1, row.ID2} {
		if err := p.sample(id, ""); err != nil {
			return err
		}
	}
	v := p.verdict(row)
	v.Stage, v.Verb, v.Input = cmp.Or(row.Stage, "comparisons"), "compare", inputName
	v.First, v.Second, v.Judge, v.Trait, v.Turn, v.Draw = row.ID1, row.ID2, cmp.Or(row.Judge, row.Model, "judge"), row.Trait, 1, 1
	if row.TemplateID != "default" {
		v.Prompt = row.TemplateID
	}
	key := strings.Join([]string{v.Stage, v.First, v.Second, v.Judge, v.Trait, v.Prompt}, "\x00")
	v.Vote = p.votes[key]
	p.votes[key]++
	return p.Verdict(v)
}

func (p *reader) verdict(row *mergedComparison) *rows.Verdict {
	states := assay.VerdictStates()
	failed := row.StatusCode != nil && *row.StatusCode != 200 || row.ErrorMessage != ""
	switch {
	case row.State != "" && row.State != assay.VerdictValid && slices.Contains(states, row.State):
		return export.InvalidVerdict(row.State, row.Reason)
	case row.BetterSample == sample1, row.BetterSample == "" && row.BetterID == row.ID1:
		return because(export.ValidVerdict(assay.LabelA, 1), row.Reason)
	case row.BetterSample == sample2, row.BetterSample == "" && row.BetterID == row.ID2:
		return because(export.ValidVerdict(assay.LabelB, 0), row.Reason)
	case row.BetterSample == sampleTie:
		return because(export.ValidVerdict(assay.LabelTie, 0.5), row.Reason)
	case failed:
		return export.InvalidVerdict(assay.VerdictFailed, row.ErrorMessage)
	}
	return export.InvalidVerdict(assay.VerdictMalformed, "no winner could be read")
}

func because(v *rows.Verdict, reason string) *rows.Verdict {
	v.Reason = reason
	return v
}
