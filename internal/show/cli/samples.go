package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// sample holds what may be typed to try a command. A test types all of them, one after the other, in a folder of its own.
type sample struct {
	command string
	lines   []string
}

// samples are in an order in which they work: each finds what those before it made.
func samples() []sample {
	return []sample{
		{"init", []string{"assay init my-study", "assay init pressure --example sycophancy",
			"assay init quiz --from my-study/questions.csv"}},
		{"lock", []string{"assay lock my-study"}},
		{"check", []string{"assay check my-study", "assay check my-study --set inputs.questions.limit=5"}},
		{"plan", []string{"assay plan my-study", "assay plan my-study --show 1 --lane haiku", "assay plan my-study --write requests"}},
		{"list", []string{"assay list models", "assay list models anthropic", "assay list prices", "assay list prices openai/gpt-4.1",
			"assay list prompts", "assay list prompts better"}},
		{"run", []string{"assay run my-study --rehearse", "assay run pressure --rehearse --limit 2 --stage short"}},
		{"judge", []string{"assay judge draft1.txt draft2.txt --judge openai/gpt-4.1 --rehearse",
			"assay judge draft1.txt draft2.txt --trait organization --judge openai/gpt-4.1 --rehearse --json"}},
		{"runs", []string{"assay runs", "assay runs --state open,held", "assay runs --all-homes --json"}},
		{"jobs", []string{"assay jobs", "assay jobs --open --watch"}},
		{"show", []string{"assay show start:venus:haiku --stage answers --turn 1"}},
		{"status", []string{"assay status", "assay status start --segments"}},
		{"results", []string{"assay results start --stage answers --lane haiku", "assay results start --item venus --json",
			"assay results start --judge judge --wide --limit 3"}},
		{"errors", []string{"assay errors", "assay errors start --verdicts"}},
		{"spend", []string{"assay spend start", "assay spend start --csv"}},
		{"sql", []string{"assay sql 'SELECT lane, status, count, cache_hits FROM lane_status'"}},
		{"analyse", []string{"assay analyse start", "assay analyse start --by lane,branch --where 'lane != \"haiku\"'"}},
		{"report", []string{"assay report start --out start.html"}},
		{"export", []string{"assay export start --format csv --out tables", "assay export start --format jsonl --out answers.jsonl",
			"assay export start --format inspect --out logs"}},
		{"bundle", []string{"assay bundle start --out start.assay", "assay analyse start.assay"}},
		{"resume", []string{"assay resume --all --once"}},
		{"tune", []string{"assay tune start"}},
	}
}

// addSamples shows the samples in the help of their commands.
func addSamples(root *cobra.Command) {
	for _, s := range samples() {
		if c, _, err := root.Find([]string{s.command}); err == nil {
			c.Example = "  " + strings.Join(s.lines, "\n  ")
		}
	}
}
