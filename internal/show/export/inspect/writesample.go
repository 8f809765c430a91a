package inspect

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"assay/internal/assay"
	"assay/internal/find/results/rows"
	"assay/internal/keep/store"
	"assay/internal/send/script"
	"assay/internal/study"
	"assay/internal/study/pairs"
)

// block writes the samples of some answers.
func (l *logWriter) block(ctx context.Context, block []store.Answer) error {
	entries, err := l.rows.Entries(ctx, block)
	if err != nil {
		return err
	}
	items, err := l.itemsOf(ctx, block)
	if err != nil {
		return err
	}
	prompts, err := l.prompts(ctx, block)
	if err != nil {
		return err
	}
	graders, err := l.graders(ctx, entries)
	if err != nil {
		return err
	}
	for i, e := range entries {
		row, err := l.rows.Answer(ctx, e.Answer, nil)
		if err != nil {
			return err
		}
		if !e.Answer.Ended {
			row.Ending = rows.Unasked
		}
		s, err := l.sample(ctx, row, e, items[row.Item], prompts[i])
		if err != nil {
			return err
		}
		if err := l.graded(ctx, s, graders[e.Answer.Key]); err != nil {
			return err
		}
		cluster := items[row.Item].Cluster
		if err := l.put(s, row.Item, cmp.Or(cluster, row.Item), e.Answer.Settled); err != nil {
			return err
		}
	}
	return nil
}

func (l *logWriter) itemsOf(ctx context.Context, block []store.Answer) (map[string]assay.Item, error) {
	ids := make([]string, len(block))
	for i, a := range block {
		ids[i] = a.At.Item
	}
	return l.rows.Ledger.ItemsByID(ctx, l.rows.Run.No, l.input, ids)
}

// sample returns one answer with the conversation before it.
func (l *logWriter) sample(ctx context.Context, row *rows.Answer, e rows.Entry, it assay.Item, p *assay.Prompt) (*sample, error) {
	at := e.Answer.At
	uid := newID(row.Run, row.Key)
	s := &sample{
		ID: sampleID(e.Answer.Key, row.Item, placeOf(script.ReadingOf(at))...), Epoch: max(1, row.Draw), Target: it.Expect,
		Models: usageByName{}, Roles: usageByName{}, UUID: uid, Events: []modelEvent{},
		Messages: l.messages(uid, p, it.Files),
	}
	if p == nil { // what was asked cannot be made again, or was never made
		s.Messages = []message{{ID: uid + ".1", Role: "user", Content: textOf(it, row.Item), Source: "input"}}
	}
	s.Metadata = map[string]any{
		"key": row.Key, "item": row.Item, "lane": row.Lane, "stage": row.Stage, "template": row.Template, "branch": row.Branch,
		"turn": row.Turn, "draw": row.Draw, "ending": row.Ending, "finish": row.Finish, "mode": row.Mode, "attempts": row.Attempts,
		"job": row.Job, "reused_from": row.ReusedFrom, "cluster": cmp.Or(it.Cluster, row.Item), "rehearsal": row.Rehearsal,
		"last": row.Turn >= l.turns,
	}
	for name, v := range it.Fields {
		s.Metadata["field_"+name] = v
	}
	if len(it.Files) > 0 {
		s.Metadata["files"] = it.Files
	}
	l.reply(s, row)
	for i := range e.Verdicts {
		if l.rows.Verb(e.Verdicts[i].At.Stage) != string(study.VerbJudge) {
			continue
		}
		v := l.rows.Verdict(&e.Verdicts[i])
		name, err := l.scoreName(ctx, v)
		if err != nil {
			return nil, err
		}
		s.score(name, v)
	}
	return s, nil
}

// textOf returns the question of an item.
func textOf(it assay.Item, id string) string {
	if text := it.Fields["text"]; text != nil && text != "" {
		return fmt.Sprint(text)
	}
	return id
}

// messages returns a prompt as messages. What one shows is named by files, which are those of the items that it is about.
func (l *logWriter) messages(uid string, p *assay.Prompt, files []assay.File) []message {
	out := []message{}
	if p == nil {
		return out
	}
	add := func(role string, content any, source string) {
		out = append(out, message{ID: fmt.Sprintf("%s.%d", uid, len(out)+1), Role: role, Content: content, Source: source})
	}
	if p.System != "" {
		add("system", p.System, "input")
	}
	context := p.Context
	for _, m := range p.Messages {
		switch {
		case len(m.Parts) > 0:
			add(string(m.Role), contentOf(context, m.Parts, files), "input")
			context = ""
		case m.Role == assay.RoleUser && context != "":
			add(string(m.Role), context+"\n\n"+m.Text, "input")
			context = ""
		case m.Role == assay.RoleAssistant:
			add(string(m.Role), m.Text, "generate")
		default:
			add(string(m.Role), m.Text, "input")
		}
	}
	return out
}

// reply adds what came back to a sample: an answer, or why there is none; and the call itself.
func (l *logWriter) reply(s *sample, row *rows.Answer) {
	model := l.modelOf(row.Stage, row.AskedLane)
	stop := map[assay.Ending]string{assay.Answered: "stop", assay.Cut: "max_tokens", assay.Refused: "content_filter",
		assay.Empty: "unknown"}[assay.Ending(row.Ending)]
	first := slices.IndexFunc(s.Messages, func(m message) bool { return m.Role == string(assay.RoleAssistant) })
	if first < 0 {
		first = len(s.Messages)
	}
	s.Input = slices.Clone(s.Messages[:first])
	asked := slices.Clone(s.Messages)
	s.Output = modelOutput{Model: cmp.Or(row.AnsweredModel, row.Model), Choices: []choice{}}
	usage := usageIn(row)
	if stop != "" {
		answer := message{ID: s.UUID + ".a", Role: string(assay.RoleAssistant), Content: row.Text, Source: "generate",
			Model: s.Output.Model}
		if row.Thoughts != "" {
			answer.Content = []map[string]string{{"type": "reasoning", "reasoning": row.Thoughts}, {"type": "text", "text": row.Text}}
		}
		s.Messages = append(s.Messages, answer)
		s.Output.Choices, s.Output.Completion, s.Output.Response = []choice{{answer, stop}}, row.Text, row.RequestID
	} else {
		s.Error = &sampleError{Message: errorText(row)}
	}
	s.Output.Usage = usage
	s.Models.add(model, usage)
	if usage == nil && row.Price != nil {
		s.Metadata["cost_usd"] = *row.Price
	}
	config, further := configOf(row)
	if l.samples == 0 && row.Model != "" {
		l.config, l.more, l.model = config, further, model
	}
	if row.Ending == rows.Unasked {
		return
	}
	at := row.SettledAt
	if t, err := time.Parse(time.RFC3339Nano, at); err == nil {
		at = timestamp(t)
	} else {
		at = timestamp(l.rows.Run.Created)
	}
	s.Started, s.Completed = at, at
	event := modelEvent{
		Event: "model", UUID: s.UUID + ".e", At: at, Model: model, Input: asked, Tools: []string{}, Choice: "none", Config: config,
		Output: s.Output, Completed: at,
	}
	if s.Error != nil {
		event.Error = s.Error.Message
	}
	s.Events = append(s.Events, event)
}

// errorText returns why there is no answer.
func errorText(row *rows.Answer) string {
	if row.Ending == rows.Unasked {
		return "unasked: what it follows has no answer, or its turn has not come"
	}
	return row.Ending + ": " + cmp.Or(row.FaultMessage, row.FaultCode, row.FaultClass, "no answer")
}

// graded adds what the judges of an answer used.
func (l *logWriter) graded(ctx context.Context, s *sample, asked []store.Answer) error {
	for _, a := range asked {
		row, err := l.rows.Answer(ctx, a, nil)
		if err != nil {
			return err
		}
		usage := usageIn(row)
		s.Models.add(l.modelOf(row.Stage, row.AskedLane), usage)
		s.Roles.add("grader", usage)
	}
	return nil
}

// scoreName returns the name of a verdict among the scores of its answer.
func (l *logWriter) scoreName(ctx context.Context, v *rows.Verdict) (string, error) {
	many, err := l.speakers(ctx, v.Stage)
	name := v.Stage
	if many {
		name += "." + v.Judge
	}
	for _, part := range []string{v.Prompt, v.Trait} {
		if part != "" {
			name += "." + part
		}
	}
	if v.Vote > 0 {
		name += "." + turnOf(v.Vote+1)
	}
	return name, err
}

// score adds a verdict to a sample.
func (s *sample) score(name string, v *rows.Verdict) {
	for i := 2; slices.ContainsFunc(s.scores, func(o score) bool { return o.name == name }); i++ {
		name = fmt.Sprintf("%s.%s.%d", v.Stage, v.Judge, i)
	}
	one := score{name: name, Answer: v.Label, Why: v.Reason, Metadata: map[string]any{
		"key": v.Key, "stage": v.Stage, "state": v.State, "label": v.Label, "vote": v.Vote, "second_try": v.SecondTry,
		"fallback": v.Fallback, "subject": v.Subject, "against": v.Against,
	}}
	for name, value := range v.Judging.Named() {
		one.Metadata[name] = *value
	}
	if v.Score != nil {
		one.Metadata["score"] = *v.Score
	}
	if v.Confidence != nil {
		one.Metadata["confidence"] = *v.Confidence
	}
	if v.Fields != "" {
		one.Metadata["fields"] = json.RawMessage(v.Fields)
	}
	switch {
	case v.State != assay.VerdictValid:
		one.Reason = map[assay.VerdictState]string{
			assay.VerdictMalformed: "grader_failed", assay.VerdictFailed: "grader_failed", assay.VerdictMissing: "no_response",
		}[v.State]
		one.Reason = cmp.Or(one.Reason, string(v.State))
	case v.Score != nil:
		one.value = *v.Score
	default:
		one.value = v.Label
	}
	s.scores = append(s.scores, one)
}

// comparisons writes the samples of some comparisons: the question to the judge, and its reply.
func (l *logWriter) comparisons(ctx context.Context, block []store.Verdict) error {
	replies := make([]store.Answer, len(block))
	var refs []assay.Ref
	at := make([]assay.Coordinates, len(block))
	for i, v := range block {
		at[i] = v.At
		at[i].Again, at[i].By = v.Again, v.By
		for _, try := range l.tries(&v) {
			refs = append(refs, try.Ref())
		}
	}
	found, err := l.rows.Ledger.AnswersTo(ctx, l.rows.Run.No, refs)
	if err != nil {
		return err
	}
	for i := range block {
		replies[i] = found[at[i].Key()]
		replies[i].At = at[i]
	}
	prompts, err := l.prompts(ctx, replies)
	if err != nil {
		return err
	}
	items, err := l.itemsOf(ctx, replies)
	if err != nil {
		return err
	}
	for i := range block {
		v := l.rows.Verdict(&block[i])
		s, err := l.pair(ctx, v, &block[i], replies[i], prompts[i], items[replies[i].At.Item].Files)
		if err != nil {
			return err
		}
		for _, try := range l.tries(&block[i]) { // those in vain cost as well
			if a, ok := found[try.Key()]; ok && a.Ended && try != at[i] {
				row, err := l.rows.Answer(ctx, a, nil)
				if err != nil {
					return err
				}
				s.Models.add(l.modelOf(row.Stage, row.AskedLane), usageIn(row))
			}
		}
		cluster := cmp.Or(items[v.Item].Cluster, v.Item)
		if block[i].At.Lane == "" { // items meet: their pair, whichever is first
			cluster = pairs.Unordered(v.Pair)
		}
		if err := l.put(s, fmt.Sprint(s.ID, " ", s.Epoch), cluster, block[i].Given); err != nil {
			return err
		}
	}
	return nil
}

// pair returns one comparison as a sample. Without a reply, it was decided without a model.
func (l *logWriter) pair(ctx context.Context, v *rows.Verdict, stored *store.Verdict, a store.Answer, p *assay.Prompt,
	files []assay.File) (*sample, error) {
	uid := newID(v.Run, v.Key, "pair")
	parts := append(placeOf(script.ReadingOf(stored.At)), v.First, v.Second)
	for _, part := range []string{v.Trait, v.Prompt} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	if v.Vote > 0 {
		parts = append(parts, turnOf(v.Vote+1))
	}
	about := v.Item
	if stored.At.Lane == "" { // items are compared: both are in the pair
		about = "items"
	}
	s := &sample{
		ID: sampleID(stored.At.Key(), about, parts...), Epoch: max(1, v.Draw), Models: usageByName{}, Roles: usageByName{}, UUID: uid,
		Events: []modelEvent{}, Messages: l.messages(uid, p, files), Output: modelOutput{Choices: []choice{}}, Input: []message{},
		Started: timestamp(stored.Given), Completed: timestamp(stored.Given),
	}
	s.Metadata = map[string]any{
		"key": v.Key, "item": v.Item, "first": v.First, "second": v.Second, "direction": v.Direction, "pair": v.Pair,
		"template": v.Template, "branch": v.Branch, "turn": v.Turn, "draw": v.Draw, "vote": v.Vote, "subject": v.Subject,
		"against": v.Against, "stage": v.Stage, "source": v.Source, "rehearsal": v.Rehearsal, "ending": "not asked",
	}
	for name, value := range v.Judging.Named() {
		s.Metadata[name] = *value
	}
	if a.Ended {
		row, err := l.rows.Answer(ctx, a, nil)
		if err != nil {
			return nil, err
		}
		l.reply(s, row)
		s.Metadata["ending"], s.Metadata["attempts"], s.Metadata["mode"], s.Metadata["job"] = row.Ending, row.Attempts, row.Mode, row.Job
	}
	if len(s.Input) == 0 {
		s.Input = []message{{ID: uid + ".i", Role: "user", Content: fmt.Sprintf("%s: %s or %s", v.Item, v.First, v.Second),
			Source: "input"}}
	}
	s.score(v.Stage, v)
	one := &s.scores[0]
	switch {
	case one.value == nil:
	case v.Label == assay.LabelA:
		one.value = 1.0
	case v.Label == assay.LabelB:
		one.value = 0.0
	case v.Label == assay.LabelTie:
		one.value = 0.5
	}
	return s, nil
}
