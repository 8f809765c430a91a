package inspect

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/results/rows"
	"assay/internal/show/export"
	"assay/internal/show/export/folder"
)

// readSample is a sample as it is read.
type readSample struct {
	ID       json.RawMessage            `json:"id"` // a text or a number
	Epoch    int64                      `json:"epoch"`
	Input    json.RawMessage            `json:"input"`
	Target   json.RawMessage            `json:"target"`
	Choices  json.RawMessage            `json:"choices"`
	Metadata map[string]json.RawMessage `json:"metadata"`
	Messages []readMessage              `json:"messages"`
	Output   struct {
		Model   string `json:"model"`
		Choices []struct {
			Message readMessage `json:"message"`
			Stop    string      `json:"stop_reason"`
		} `json:"choices"`
		Completion string `json:"completion"`
		Usage      *usage `json:"usage"`
	} `json:"output"`
	Scores map[string]readScore `json:"scores"`
	Models map[string]*usage    `json:"model_usage"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
	Limit json.RawMessage `json:"limit"`

	Attached map[string]string `json:"attachments"` // by what the parts of messages name them
	Invalid  json.RawMessage   `json:"invalidation"`
}

type readMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"` // a text, or parts
	Tools   json.RawMessage `json:"tool_calls"`
}

// words returns the text of a message and the thoughts before it. Further reports whether it has more than text.
func (m *readMessage) words() (text, thoughts string, further bool) {
	var one string
	if json.Unmarshal(m.Content, &one) == nil {
		return one, "", m.Role == "tool" || export.NotEmpty(m.Tools)
	}
	var parts []part
	if json.Unmarshal(m.Content, &parts) != nil {
		return "", "", export.NotEmpty(m.Content)
	}
	further = m.Role == "tool" || export.NotEmpty(m.Tools)
	var texts, thought []string
	for _, p := range parts {
		switch p.Type {
		case "text":
			texts = append(texts, p.Text)
		case "reasoning":
			thought = append(thought, p.Reasoning)
		case "image", "document", "audio":
		default:
			further = true
		}
	}
	return strings.Join(texts, "\n"), strings.Join(thought, "\n"), further
}

// sample takes one sample in. An error ends the reading; what is wrong with a sample is noted.
func (r *reader) sample(at assay.Place, text []byte) error {
	text = export.StrictJSON(text)
	var s readSample
	if err := json.Unmarshal(text, &s); err != nil {
		r.Bad.At(assay.Place{}, "%v", export.JSONError(at, text, err))
		return nil
	}
	id, ok := export.PlainText(s.ID)
	switch {
	case !ok || strings.TrimSpace(id) == "":
		r.Bad.At(at, "the sample has no id")
		return nil
	case s.Epoch < 0:
		r.Bad.At(at, "sample %q: epoch %d", assay.Clean(id, export.MaxShown), s.Epoch)
		return nil
	case export.NotEmpty(s.Invalid):
		r.invalid++
		return nil
	}
	p, mark := r.placed[r.log], r.logs[r.log].head.mark
	if mark != nil && mark.Verb == "compare" {
		return r.comparison(at, &s)
	}
	row := &rows.Answer{At: rows.At{Stage: p.stage, Verb: "ask", Input: p.input, Item: id, Lane: p.lane, Turn: 1, Draw: max(1, s.Epoch)}}
	if mark != nil {
		row.Verb, row.Rehearsal = cmp.Or(mark.Verb, "ask"), mark.Rehearsal
		if row.Verb == "import" {
			row.Verb = "ask"
		}
		s.coordinates(row)
	}
	if fresh, err := r.asked(at, &s, row); err != nil || !fresh {
		return err
	}
	s.outcome(row, r.logs[r.log].head.Eval.Model)
	return r.turns(at, &s, row)
}

// coordinates are those of our own export.
func (s *readSample) coordinates(row *rows.Answer) {
	text := func(name string, to *string) {
		if v, ok := export.PlainText(s.Metadata[name]); ok {
			*to = v
		}
	}
	text("item", &row.Item)
	text("template", &row.Template)
	text("branch", &row.Branch)
	number(s.Metadata["turn"], &row.Turn)
	number(s.Metadata["draw"], &row.Draw)
	row.Turn, row.Draw = max(1, row.Turn), max(1, row.Draw)
}

func number(v json.RawMessage, to *int64) {
	var n int64
	if json.Unmarshal(v, &n) == nil {
		*to = n
	}
}

// asked hands on the item of a sample. False: another sample of this id asks something else.
func (r *reader) asked(at assay.Place, s *readSample, row *rows.Answer) (bool, error) {
	text, system := s.question()
	key := sha256.Sum256([]byte(row.Input + "\x00" + row.Item))
	asked := sha256.Sum256([]byte(system + "\x00" + text))
	mark := r.logs[r.log].head.mark
	if was, ok := r.met[[16]byte(key[:16])]; ok {
		if mark == nil && was.asked != [16]byte(asked[:16]) {
			r.Bad(assay.Problem{Place: at, Hint: "it is left out; logs of other questions can be imported one by one",
				What: fmt.Sprintf("sample %q asks something else than the one of this id in %s", assay.Clean(row.Item, export.MaxShown),
					r.logs[was.log].name)})
			return false, nil
		}
		return true, nil
	}
	r.met[[16]byte(key[:16])] = metItem{[16]byte(asked[:16]), r.log}
	fields, cluster := map[string]any{}, ""
	for name, v := range s.Metadata {
		switch field, ours := strings.CutPrefix(name, "field_"); {
		case mark == nil:
			fields[name] = v
		case ours:
			fields[field] = v
		case name == "cluster":
			cluster, _ = export.PlainText(v)
		}
	}
	if _, ok := fields["text"]; !ok || mark == nil {
		fields["text"] = text
	}
	expect := s.target()
	if mark == nil {
		if system != "" {
			fields["system"] = system
		}
		if export.NotEmpty(s.Choices) {
			fields["choices"] = s.Choices
		}
		if texts := s.userTexts(); len(texts) > 0 {
			fields["messages"] = texts
		}
		if names := s.shown(); len(names) > 0 {
			fields["media"] = names
		}
	}
	packed, err := folder.Marshal(fields)
	if err != nil {
		return false, err
	}
	return true, r.AddItem(&rows.Item{Input: row.Input, Item: row.Item, Cluster: cmp.Or(cluster, row.Item), Expect: expect,
		Fields: rows.Raw(packed)})
}

// question returns the question of a sample, and its system message.
func (s *readSample) question() (text, system string) {
	if json.Unmarshal(s.Input, &text) == nil {
		return text, ""
	}
	var all []readMessage
	if json.Unmarshal(s.Input, &all) != nil {
		return "", ""
	}
	var texts []string
	for _, m := range all {
		words, _, _ := m.words()
		if m.Role == "system" {
			system = words
		} else {
			texts = append(texts, words)
		}
	}
	return strings.Join(texts, "\n\n"), system
}

// shown returns the names of what a sample's question shows.
func (s *readSample) shown() (names []string) {
	var all []readMessage
	if json.Unmarshal(s.Input, &all) != nil {
		return nil
	}
	for i := range all {
		names = append(names, all[i].shown(s.Attached)...)
	}
	return names
}

// userTexts returns the messages of the user in a conversation of several turns.
func (s *readSample) userTexts() []string {
	var out []string
	for _, m := range s.Messages {
		if m.Role == "user" {
			words, _, _ := m.words()
			out = append(out, words)
		}
	}
	if len(out) < 2 {
		return nil
	}
	return out
}

// target returns the right answer; of several, each on a line.
func (s *readSample) target() string {
	if text, ok := export.PlainText(s.Target); ok {
		return text
	}
	var all []string
	if json.Unmarshal(s.Target, &all) != nil {
		return ""
	}
	return strings.Join(all, "\n")
}

// outcome is how a sample ended.
func (s *readSample) outcome(row *rows.Answer, model string) {
	row.Text, row.AnsweredModel = s.Output.Completion, s.Output.Model
	stop := ""
	if len(s.Output.Choices) > 0 {
		c := s.Output.Choices[0]
		stop = c.Stop
		text, thoughts, _ := c.Message.words()
		row.Text, row.Thoughts = cmp.Or(text, row.Text), thoughts
	}
	row.Finish = stop
	if finish, ok := export.PlainText(s.Metadata["finish"]); ok && finish != "" {
		row.Finish = finish
	}
	switch {
	case s.Error != nil:
		row.Ending, row.FaultMessage = string(assay.Errored), s.Error.Message
		if ending, message, ok := strings.Cut(s.Error.Message, ": "); ok &&
			(ending == rows.Unasked || slices.Contains(assay.Endings(), assay.Ending(ending))) {
			row.Ending, row.FaultMessage = ending, message // as our own export writes it
		}
	case stop == "content_filter":
		row.Ending = string(assay.Refused)
	case row.Text == "":
		row.Ending = string(assay.Empty)
	case stop == "max_tokens", stop == "model_length", export.NotEmpty(s.Limit):
		row.Ending = string(assay.Cut)
	default:
		row.Ending = string(assay.Answered)
	}
	usage := s.Output.Usage
	if usage == nil {
		usage = s.Models[model]
	}
	if usage != nil {
		row.CachedTokens, row.Write5m, row.OutputTokens, row.Reasoning, row.Cost = usage.CacheRead, usage.CacheWrite, usage.Output,
			usage.Reasoning, usage.Cost
		if usage.Input != nil {
			row.InputTokens = plus(usage.Input, plus(usage.CacheRead, usage.CacheWrite))
		}
	}
	if cost := new(float64); row.Cost == nil && json.Unmarshal(s.Metadata["cost_usd"], cost) == nil && len(s.Metadata["cost_usd"]) > 0 {
		row.Cost = cost
	}
}

// turns hands on the answers of a sample: one, or one for each message of the user. The scores are about the last.
func (r *reader) turns(at assay.Place, s *readSample, row *rows.Answer) error {
	if r.logs[r.log].head.mark != nil {
		return r.answered(at, s, row)
	}
	var earlier []rows.Answer
	users, further := 0, false
	for i := range s.Messages {
		text, thoughts, more := s.Messages[i].words()
		further = further || more
		switch s.Messages[i].Role {
		case "user":
			users++
		case "assistant":
			if users == 0 {
				continue // given, not asked
			}
			one := rows.Answer{Text: text, Thoughts: thoughts, At: rows.At{Turn: int64(users)}}
			if n := len(earlier); n > 0 && earlier[n-1].Turn == one.Turn {
				earlier = earlier[:n-1]
			}
			earlier = append(earlier, one)
		}
	}
	if further {
		if r.tools++; r.tools == 1 {
			r.firstTool = at
		}
		return r.answered(at, s, row)
	}
	row.Turn = int64(max(1, users))
	for _, e := range earlier {
		if e.Turn >= row.Turn {
			break
		}
		one := rows.Answer{
			At: rows.At{Stage: row.Stage, Verb: row.Verb, Input: row.Input, Item: row.Item, Lane: row.Lane, Draw: row.Draw, Turn: e.Turn,
				Rehearsal: row.Rehearsal},
			Text: e.Text, Thoughts: e.Thoughts, Ending: string(assay.Answered), AnsweredModel: row.AnsweredModel,
		}
		if one.Text == "" {
			one.Ending = string(assay.Empty)
		}
		if _, err := r.AddAnswer(&one); err != nil {
			return err
		}
	}
	return r.answered(at, s, row)
}

// answered hands on an answer and the verdicts on it.
func (r *reader) answered(at assay.Place, s *readSample, row *rows.Answer) error {
	first, err := r.AddAnswer(row)
	if err != nil {
		return err
	}
	if !first {
		r.Bad.At(at, "sample %q, epoch %d: lane %s has an answer already", assay.Clean(row.Item, export.MaxShown), row.Draw, row.Lane)
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(s.Scores)) {
		if err := r.scored(name, s.Scores[name], row); err != nil {
			return err
		}
	}
	return nil
}
