package rows

import (
	"cmp"
	"context"
	"fmt"

	"assay/internal/assay"
	"assay/internal/find/results"
	"assay/internal/keep/store"
	"assay/internal/send/batchrun"
	"assay/internal/show/report"
	"assay/internal/study"
)

// Conversation returns the messages of a lane's conversation, up to an answer.
func Conversation(ctx context.Context, r *results.Reader, run store.Run, a store.Answer) ([]report.Turn, error) {
	turns, err := Question(ctx, r, run, a.Mode, a.At)
	if err != nil {
		return nil, err
	}
	text := a.Outcome.Words()
	if a.Over {
		text = fmt.Sprintf("(too long to show: %d bytes as they came)", a.Length)
	}
	return append(turns, report.Turn{Role: string(assay.RoleAssistant), Text: text, Calls: a.Outcome.Calls}), nil
}

// Question returns what a lane or a judge was sent. Answers made elsewhere, and what people were shown, have no request
// that could be made again: then there is no question.
func Question(ctx context.Context, r *results.Reader, run store.Run, mode store.SegmentMode, at assay.Coordinates) ([]report.Turn, error) {
	st, err := r.Study(ctx, run)
	if err != nil {
		return nil, err
	}
	stage, ok := st.Stage(at.Stage)
	if _, lane := st.Lane(cmp.Or(at.Judge, at.Lane)); !ok || !lane || stage.Verb() == study.VerbImport {
		return nil, nil
	}
	made, err := r.Scripts.Build(ctx, run, mode, []assay.Coordinates{at})
	if err != nil {
		return nil, fmt.Errorf("make the question of an example again: %w", err)
	}
	return said(made[0].Request.Prompt), nil
}

const RoleSystem = "system"

func said(p *assay.Prompt) []report.Turn {
	var out []report.Turn
	if p.System != "" {
		out = append(out, report.Turn{Role: RoleSystem, Text: p.System})
	}
	if p.Context != "" {
		out = append(out, report.Turn{Role: "context", Text: p.Context})
	}
	for _, m := range p.Messages {
		out = append(out, report.Turn{Role: string(m.Role), Text: m.Text})
	}
	return out
}

// Prompts makes again what requests of a run were asked, in their order.
func Prompts(ctx context.Context, r *results.Reader, run store.Run, at []assay.Coordinates) ([]assay.Prompt, error) {
	if _, ok := batchrun.Of(run); ok {
		return make([]assay.Prompt, len(at)), nil // its bodies are the user's own bytes
	}
	made, err := r.Scripts.Build(ctx, run, store.Live, at)
	if err != nil {
		return nil, err
	}
	var out []assay.Prompt
	for _, p := range made {
		out = append(out, *p.Request.Prompt)
	}
	return out, nil
}

// Files returns what requests about an item show. Of several inputs that have the item, the first that shows something counts.
func Files(ctx context.Context, r *results.Reader, run store.Run, id string) ([]assay.File, error) {
	named, err := r.Ledger.Named(ctx, run.No, id)
	if err != nil {
		return nil, err
	}
	first := ""
	for input, it := range named {
		if len(it.Files) > 0 && (first == "" || input < first) {
			first = input
		}
	}
	return named[first].Files, nil
}
