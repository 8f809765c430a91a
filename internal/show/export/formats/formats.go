// Package formats lists the formats of exports and imports, and holds those that fit into one file.
package formats

import (
	"assay/internal/show/export"
	"assay/internal/show/export/inspect"
	"assay/internal/show/export/pairwise"
	"assay/internal/show/export/speceval"
	"assay/internal/show/export/sycobench"
	"assay/internal/show/export/table"
)

// All lists all formats; adding one is one file and one entry.
func All() []export.Format {
	return []export.Format{
		tables(table.CSV), tables(table.JSONL), tables(table.Parquet),
		{
			Name: "registry", Import: "pairwisellm", Write: pairwise.Write, Read: pairwise.Read,
			Writes: "comparisons as pairwiseLLM keeps them: run_manifest.csv, jobs_registry.csv, results, combined_all_runs.csv",
			Reads:  "results of comparisons",
		},
		{
			Name: "by-group", Import: "speceval", Write: speceval.Write, Read: speceval.Read,
			Writes: "answers, compliance and rankings by statement, as SpecEval keeps them",
			Reads:  "generations, compliance, ratings and rankings by statement",
		},
		{
			Name: "conversations", Import: "sycobench", Write: sycobench.Write, Read: sycobench.Read,
			Writes: "conversations by model with scores and a log of batches, as SycoBench keeps them",
			Reads:  "conversations by model, scores of judges",
		},
		{
			Name: "inspect", Import: "inspect", Write: inspect.Zip.Write, WriteJSON: inspect.JSON.Write, Read: inspect.Read,
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
