package export

import (
	"context"
	"errors"
	"io"
	"io/fs"

	"assay/internal/find/results"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/store"
	"assay/internal/study/catalog"
)

// Format is one form of results: how runs are written in it, and how its files are read back.
type Format struct {
	Name   string // of what is written; empty: it is only read
	Import string // of what is read: the system whose files these are

	// Write writes runs into a folder.
	Write func(ctx context.Context, t *Tree, runs []Run) error
	// WriteJSON writes runs into a folder of JSON documents. Nil: the format has one form.
	WriteJSON func(ctx context.Context, t *Tree, runs []Run) error
	// WriteFile writes the answers of runs as one file. Nil: the format is a folder.
	WriteFile func(ctx context.Context, w io.Writer, runs []Run) error
	// Read hands on what files hold. It returns ErrNothing where they hold nothing of the format.
	Read func(ctx context.Context, from From, to *Sink) error

	Writes, Reads string // one line each for a list of formats; empty: a table
}

// Formats lists all formats; adding one is one file and one entry.
func Formats() []Format {
	return []Format{
		{Name: "csv", Import: "csv", Write: CSV.writeTables, WriteFile: CSV.writeAnswers, Read: CSV.readTables},
		{Name: "jsonl", Import: "jsonl", Write: JSONL.writeTables, WriteFile: JSONL.writeAnswers, Read: JSONL.readTables},
		{Name: "parquet", Import: "parquet", Write: Parquet.writeTables, WriteFile: Parquet.writeAnswers, Read: Parquet.readTables},
		{
			Name: "registry", Import: "pairwisellm", Write: writePairwise, Read: readPairwise,
			Writes: "comparisons as pairwiseLLM keeps them: run_manifest.csv, jobs_registry.csv, results, combined_all_runs.csv",
			Reads:  "results of comparisons",
		},
		{
			Name: "by-group", Import: "speceval", Write: writeSpecEval, Read: readSpecEval,
			Writes: "answers, compliance and rankings by statement, as SpecEval keeps them",
			Reads:  "generations, compliance, ratings and rankings by statement",
		},
		{
			Name: "conversations", Import: "sycobench", Write: writeSycoBench, Read: readSycoBench,
			Writes: "conversations by model with scores and a log of batches, as SycoBench keeps them",
			Reads:  "conversations by model, scores of judges",
		},
		{
			Name: "inspect", Import: "inspect", Write: inspectZip.write, WriteJSON: inspectJSON.write, Read: readInspect,
			Writes: "logs of Inspect (.eval; with --json .json), one for each stage and lane, with verdicts as scores and draws as epochs",
			Reads:  "logs of Inspect (.eval and .json), in all folders below, or one file",
		},
		{
			Import: "promptfoo", Read: readPromptfoo,
			Reads: "results of promptfoo: what `promptfoo eval -o FILE.json` (or .jsonl) writes",
		},
		{
			Import: "lm-eval", Read: readHarness,
			Reads: "samples of lm-evaluation-harness: the samples_*.jsonl that --log_samples writes",
		},
		{
			Import: "batch", Read: readReplies,
			Reads: "result and error files of providers' Batch APIs (JSONL), one or several; the form is recognised",
		},
	}
}

// Run is one run to be written.
type Run struct {
	store.Run
	Results *results.Reader
	Raw     artifacts.Place // what providers sent; nil: it is not there, as in a bundle
	Version string          // of the program that writes it; empty: not said
}

func (r Run) rows(ctx context.Context) (*results.Rows, error) { return r.Results.Rows(ctx, r.Run) }

// From says which files are read.
type From struct {
	Files fs.FS
	File  string // this one alone; empty: all of them
	Run   string // of tables that hold several runs, this one; empty: the only one

	Lane    string            // of rows that name none; of results of batches, of all
	Columns map[string]string // of one table: under which name it has a column of ours

	// Of results of batches alone.
	Sources  []Source
	Requests *Source         // what was sent; nil: it is not known
	Vendor   *catalog.Vendor // whose results they are; nil: recognised
}

var (
	// ErrNothing says that files hold nothing of a format.
	ErrNothing = errors.New("nothing of this kind is there")
	// ErrRuns says that tables hold several runs, of which one is to be named.
	ErrRuns = errors.New("the tables hold several runs")
	// ErrFile says that one file was given where a format is a folder.
	ErrFile = errors.New("it is not a folder")
)

// NoStageError says that no stage of the runs can be written in a format.
type NoStageError struct{ Lacks string }

func (e *NoStageError) Error() string { return "no stage of these runs " + e.Lacks }
