package formats

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"assay/internal/assay"
	"assay/internal/assay/jsontext"
	"assay/internal/find/results/rows"
	"assay/internal/show/export"
	"assay/internal/show/export/folder"
	"assay/internal/show/export/table"
)

// promptfooRow is one result of promptfoo.
type promptfooRow struct {
	Provider json.RawMessage            `json:"provider"` // an id, or an object with id and label
	Vars     map[string]json.RawMessage `json:"vars"`
	Index    int64                      `json:"promptIdx"`
	Prompt   struct {
		Label string `json:"label"`
		Raw   string `json:"raw"`
	} `json:"prompt"`
	Response *struct {
		Output  json.RawMessage `json:"output"`
		Refused bool            `json:"isRefusal"`
		Usage   *promptfooUsage `json:"tokenUsage"`
		Cost    *float64        `json:"cost"`
		Finish  string          `json:"finishReason"`
	} `json:"response"`
	Cost    *float64 `json:"cost"`
	Error   string   `json:"error"`
	Failure int      `json:"failureReason"` // 0: none, 1: an assertion, 2: an error
	Grading *struct {
		Parts []promptfooPart `json:"componentResults"`
	} `json:"gradingResult"`
}

type promptfooUsage struct {
	Prompt     *int64 `json:"prompt"`
	Completion *int64 `json:"completion"`
	Details    struct {
		Reasoning *int64 `json:"reasoning"`
	} `json:"completionDetails"`
}

// promptfooPart is the result of one assertion.
type promptfooPart struct {
	Pass      bool     `json:"pass"`
	Score     *float64 `json:"score"`
	Reason    string   `json:"reason"`
	Assertion *struct {
		Type   string `json:"type"`
		Metric string `json:"metric"`
	} `json:"assertion"`
}

// promptfooError is the reason of a failure that is no assertion.
const promptfooError = 2

// readPromptfoo reads the results of promptfoo: a JSON document, or a line for each result.
func readPromptfoo(ctx context.Context, from export.From, to *export.Sink) error {
	names, err := from.Names(".json", ".jsonl")
	if err != nil {
		return err
	}
	r := &promptfooReader{Sink: to, from: from, prompts: map[int64]string{}, draws: map[[16]byte]int64{}, byLabel: map[string]int64{}}
	for _, name := range names { // once for the prompts, because the first answer needs to know whether there are several
		if err := r.walk(ctx, name, func(assay.Problem) {},
			func(_ assay.Place, row *promptfooRow) error { r.prompt(row); return nil }); err != nil {
			continue // the second reading reports why
		}
	}
	for _, name := range names {
		if err := r.walk(ctx, name, to.Bad, r.row); err != nil {
			if r.stop != nil {
				return r.stop
			}
			to.Bad.At(assay.Place{}, "%v", err)
			r.broken = true
		}
	}
	if r.found == 0 && r.unread == 0 && !r.broken {
		return export.ErrNothing
	}
	return nil
}

type promptfooReader struct {
	*export.Sink
	from          export.From
	prompts       map[int64]string // names of prompts by their number
	byLabel       map[string]int64
	draws         map[[16]byte]int64 // how often the same was asked
	found, unread int
	broken        bool  // a file could not be read
	stop          error // of the sink, which ends the reading
}

// walk hands on the results of a file.
func (r *promptfooReader) walk(ctx context.Context, name string, bad table.Report, take func(assay.Place, *promptfooRow) error) error {
	one := func(at assay.Place, text []byte) error {
		if r.stop = ctx.Err(); r.stop != nil {
			return r.stop
		}
		var row promptfooRow
		text = export.StrictJSON(text)
		if err := json.Unmarshal(text, &row); err != nil {
			bad.At(assay.Place{}, "%v", export.JSONError(at, text, err))
			r.unread++
			return nil
		}
		if row.Vars == nil && row.Response == nil && len(row.Provider) == 0 {
			return nil // something else
		}
		r.stop = take(at, &row)
		return r.stop
	}
	file, err := r.from.Files.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	if strings.EqualFold(path.Ext(name), ".jsonl") {
		return table.EachLine(file, name, bad, one)
	}
	err = jsontext.Read(file, jsontext.Document{Lists: [][]string{{"results", "results"}}, Max: table.MaxRecord,
		Each: func(e jsontext.Element) error {
			at := assay.Place{File: name, Line: e.Line, Col: e.Col}
			if e.TooLong {
				bad.At(at, "a result has more than %d MB", table.MaxRecord>>20)
				return nil
			}
			return one(at, e.Text)
		}})
	var wrong *jsontext.Error
	if errors.As(err, &wrong) {
		return fmt.Errorf("%s: %w", assay.Place{File: name, Line: wrong.Line, Col: wrong.Col}, wrong.Err)
	}
	return err
}

// prompt notes the name of a prompt: its label where that is short, else its number.
func (r *promptfooReader) prompt(row *promptfooRow) {
	if _, ok := r.prompts[row.Index]; ok {
		return
	}
	name := export.LaneName(row.Prompt.Label)
	if name == "" || len(name) > 40 || row.Prompt.Label == row.Prompt.Raw {
		name = fmt.Sprintf("p%d", row.Index+1)
	}
	if _, taken := r.byLabel[name]; taken {
		name = fmt.Sprintf("%s-%d", name, row.Index+1)
	}
	r.prompts[row.Index], r.byLabel[name] = name, row.Index
}

// row takes one result in.
func (r *promptfooReader) row(at assay.Place, row *promptfooRow) error {
	r.found++
	lane := cmp.Or(r.from.Lane, row.lane())
	if lane == "" {
		r.Bad(assay.Problem{Place: at, What: "the result does not name its provider", Hint: "name a lane with --lane NAME"})
		return nil
	}
	fields := map[string]any{}
	for name, v := range row.Vars {
		fields[name] = v
	}
	packed, err := folder.Marshal(fields)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(packed)       // keys are sorted: equal vars are one item
	id := hex.EncodeToString(sum[:10]) // 80 bits: no two of millions are the same
	if _, ok := fields["text"]; !ok {
		fields["text"] = row.Prompt.Raw
		if packed, err = folder.Marshal(fields); err != nil {
			return err
		}
	}
	if err := r.AddItem(&rows.Item{Input: "items", Item: id, Cluster: id, Fields: rows.Raw(packed)}); err != nil {
		return err
	}
	a := &rows.Answer{At: rows.At{Stage: "answers", Verb: "ask", Input: "items", Item: id, Lane: lane, Turn: 1}}
	if len(r.prompts) > 1 {
		a.Template = r.prompts[row.Index]
	}
	same := sha256.Sum256([]byte(strings.Join([]string{id, lane, a.Template}, "\x00")))
	r.draws[[16]byte(same[:16])]++
	a.Draw = r.draws[[16]byte(same[:16])]
	row.outcome(a)
	if _, err := r.AddAnswer(a); err != nil {
		return err
	}
	return r.graded(row, a)
}

// lane returns the provider's label, else its id.
func (row *promptfooRow) lane() string {
	var text string
	if json.Unmarshal(row.Provider, &text) == nil {
		return export.LaneName(text)
	}
	var one struct {
		ID    string `json:"id"`
		Label string `json:"label"`
	}
	if json.Unmarshal(row.Provider, &one) != nil {
		return ""
	}
	return export.LaneName(cmp.Or(one.Label, one.ID))
}

func (row *promptfooRow) outcome(a *rows.Answer) {
	if p := row.Response; p != nil {
		if text, ok := export.PlainText(p.Output); ok {
			a.Text = text
		} else if len(p.Output) > 0 && string(p.Output) != "null" { // [], {} and false are answers
			a.Text = string(p.Output)
		}
		a.Finish = p.Finish
		if u := p.Usage; u != nil && u.Prompt != nil && u.Completion != nil {
			a.InputTokens, a.OutputTokens, a.Reasoning = u.Prompt, u.Completion, u.Details.Reasoning
		}
		a.Cost = p.Cost
	}
	if a.Cost == nil && row.Cost != nil && *row.Cost > 0 { // 0 may also mean not known
		a.Cost = row.Cost
	}
	switch {
	case row.Failure == promptfooError:
		a.Ending, a.FaultMessage = string(assay.Errored), row.Error
	case row.Response != nil && row.Response.Refused:
		a.Ending = string(assay.Refused)
	case a.Text == "":
		a.Ending, a.FaultMessage = string(assay.Empty), row.Error
	default:
		a.Ending = string(assay.Answered)
	}
}

// graded hands on the results of the assertions.
func (r *promptfooReader) graded(row *promptfooRow, a *rows.Answer) error {
	if row.Grading == nil || row.Failure == promptfooError {
		return nil
	}
	met := map[string]int{}
	for _, p := range row.Grading.Parts {
		if p.Assertion == nil || p.Assertion.Type == "" {
			continue
		}
		name := export.StageName(cmp.Or(p.Assertion.Metric, p.Assertion.Type), "assertion")
		if name == a.Stage {
			name += "_score"
		}
		if met[name]++; met[name] > 1 {
			name = fmt.Sprintf("%s_%d", name, met[name])
		}
		score := map[bool]float64{true: 1, false: 0}[p.Pass]
		if p.Score != nil {
			score = *p.Score
		}
		v := &rows.Verdict{
			At:      a.JudgedIn(name),
			Judging: rows.Judging{Judge: p.Assertion.Type},
			State:   assay.VerdictValid, Score: &score, Reason: p.Reason,
			Fields: rows.Raw(fmt.Sprintf(`{"pass":%t}`, p.Pass)),
		}
		if err := r.Verdict(v); err != nil {
			return err
		}
	}
	return nil
}
