package inspect

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/show/export/folder"
	"assay/internal/study"
	"assay/internal/study/plan"
)

// logWriter is one log under construction.
type logWriter struct {
	*runWriter
	st     *study.Stage
	lane   string // of comparisons: the judge
	input  string
	turns  int64
	file   *logFile // nil: it has no sample yet
	config map[string]any
	more   map[string]any
	model  string

	samples, completed, epochs int64
	last                       time.Time
	models, roles              usageByName
	scores                     map[string]*scoreSums
}

func (x *runWriter) log(st *study.Stage, lane string) *logWriter {
	l := &logWriter{
		runWriter: x, st: st, lane: lane, input: (&plan.Input{Study: x.rows.Study}).Root(st), config: map[string]any{},
		more: map[string]any{}, models: usageByName{}, roles: usageByName{}, scores: map[string]*scoreSums{},
		model: x.modelOf(st.Name, lane),
	}
	for i := range st.Turns {
		if st.Turns[i].Asked() {
			l.turns++
		}
	}
	l.turns = max(1, l.turns)
	return l
}

// ids returns the names of a log: of its task, and the one that no other log has.
func (l *logWriter) ids() (task, id string) {
	return strings.ReplaceAll(l.rows.Run.Study, "/", "-") + "." + l.st.Name, newID(l.rows.Run.ID, l.st.Name, l.lane, "task")
}

// put writes a sample and adds it to the sums of its log: those of its item, and of the cluster of that.
func (l *logWriter) put(s *sample, item, cluster string, at time.Time) error {
	if l.file == nil {
		task, id := l.ids()
		stamp := strings.NewReplacer(":", "-", "+", "-").Replace(l.rows.Run.Created.UTC().Format("2006-01-02T15:04:05-00:00"))
		name := strings.Map(func(c rune) rune { // Inspect takes a name apart at its underscores
			if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' {
				return c
			}
			return '-'
		}, task)
		var err error
		if l.file, err = newLogFile(l.tree, stamp+"_"+name+"_"+id, l.form); err != nil {
			return err
		}
		l.logs++
	}
	l.samples++
	l.epochs = max(l.epochs, s.Epoch)
	if s.Error == nil {
		l.completed++
	}
	if at.After(l.last) {
		l.last = at
	}
	for _, name := range slices.Sorted(maps.Keys(s.Models)) {
		l.models.add(name, s.Models[name])
	}
	for _, name := range slices.Sorted(maps.Keys(s.Roles)) {
		l.roles.add(name, s.Roles[name])
	}
	for _, score := range s.scores {
		sums := l.scores[score.name]
		if sums == nil {
			sums = &scoreSums{items: map[[16]byte]int{}, clusters: map[[16]byte]int{}}
			l.scores[score.name] = sums
		}
		sums.add(score.value, item, cluster)
	}
	whole, short, err := s.texts()
	if err != nil {
		return err
	}
	return l.file.add(fmt.Sprintf("samples/%s_epoch_%d.json", s.ID, s.Epoch), whole, short)
}

// texts returns a sample and its summary as JSON.
func (s *sample) texts() (whole, short []byte, err error) {
	if whole, err = withScores(s, s.scores); err != nil {
		return nil, nil, err
	}
	sum := summary{
		ID: s.ID, Epoch: s.Epoch, Target: thinText(s.Target), Metadata: thin(s.Metadata), Models: s.Models, Roles: s.Roles,
		Started: s.Started, Completed: s.Completed, UUID: s.UUID, Done: true, Messages: len(s.Messages), Input: slices.Clone(s.Input),
	}
	for i, m := range sum.Input {
		sum.Input[i].Content = thinText(fmt.Sprint(m.Content))
	}
	if s.Error != nil {
		sum.Error = thinText(s.Error.Message)
	}
	scores := slices.Clone(s.scores)
	for i, one := range scores {
		scores[i].Answer, scores[i].Why, scores[i].Metadata = thinText(one.Answer), thinText(one.Why), thin(one.Metadata)
		if text, ok := one.value.(string); ok {
			scores[i].value = thinText(text)
		}
	}
	short, err = withScores(sum, scores)
	return whole, short, err
}

// withScores is JSON with scores behind its fields.
func withScores(v any, scores []score) ([]byte, error) {
	text, err := folder.Marshal(v)
	if err != nil || len(scores) == 0 {
		return text, err
	}
	text = append(text[:len(text)-1], `,"scores":{`...)
	for i, s := range scores {
		name, err := folder.Marshal(s.name)
		if err != nil {
			return nil, err
		}
		value := []byte("NaN")
		if s.value != nil {
			if value, err = folder.Marshal(s.value); err != nil {
				return nil, err
			}
		}
		rest, err := folder.Marshal(s)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			text = append(text, ',')
		}
		text = append(append(append(text, name...), `:{"value":`...), value...)
		text = append(append(text, ','), rest[1:]...)
	}
	return append(text, '}', '}'), nil
}

// close ends the log. One without samples is not written.
func (l *logWriter) close() error {
	if l.file == nil {
		return nil
	}
	header, err := folder.Marshal(l.header())
	if err != nil {
		return err
	}
	return l.file.close(header)
}

func (l *logWriter) header() logHeader {
	task, id := l.ids()
	mark := &runMark{
		Run: l.rows.Run.ID, Study: l.rows.Run.Study, Stage: l.st.Name, Lane: l.lane, Verb: string(l.st.Verb()), Input: l.input,
		Rehearsal: l.rows.Run.Rehearsal, State: string(l.rows.Run.State), Result: string(l.rows.Run.Result),
	}
	if _, ok := l.rows.Study.Stage(l.st.Compare); ok {
		mark.Source = l.st.Compare
	}
	h := logHeader{
		Version: logVersion, Status: "started",
		Eval: evalHeader{
			Set: l.rows.Run.ID, ID: newID(l.rows.Run.ID, l.st.Name, l.lane), Run: l.rows.Run.ID, Created: timestamp(l.rows.Run.Created),
			Task: task, TaskID: id, Shown: l.rows.Run.Study + ": " + l.st.Name, Args: map[string]string{"lane": l.lane},
			Tags: []string{"assay", l.rows.Run.Study, l.lane}, Metadata: origin{mark},
			Dataset: dataset{Name: cmp.Or(l.input, l.rows.Run.Study), Samples: l.samples}, Model: l.model, Config: l.config,
			Further: l.more, Epochs: epochs{max(1, l.epochs)},
		},
		Plan:    evalPlan{Steps: []planStep{{Solver: "assay", Params: map[string]any{}}}, Config: l.config},
		Results: evalResults{Total: l.samples, Completed: l.completed, Scores: []scoreTotal{}},
		Stats:   evalStats{Started: timestamp(l.rows.Run.Created), Models: l.models, Roles: l.roles},
	}
	switch {
	case l.rows.Run.Result == store.ResultCancelled:
		h.Status = "cancelled"
	case l.rows.Run.State == store.RunClosed:
		h.Status = "success"
	}
	if l.rows.Run.Rehearsal {
		h.Eval.Tags, h.Eval.Shown = append(h.Eval.Tags, "rehearsal"), h.Eval.Shown+" (REHEARSAL)"
	}
	if l.version != "" {
		h.Eval.Packages = map[string]string{"assay": l.version}
	}
	if !l.last.IsZero() {
		h.Stats.Completed = timestamp(l.last)
	}
	for _, name := range slices.Sorted(maps.Keys(l.scores)) {
		s := l.scores[name]
		h.Eval.Scorers = append(h.Eval.Scorers, namedScorer{name})
		h.Results.Scores = append(h.Results.Scores, scoreTotal{
			Name: name, Scorer: name, Scored: s.scored, Unscored: s.unscored, Params: map[string]any{}, Metrics: s.metrics(),
		})
	}
	return h
}

// sampleID returns a name of a sample that no other one of its log has: its item, and its other coordinates as far as they are needed.
func sampleID(key assay.Key, about string, parts ...string) string {
	if len(parts) == 0 {
		return about
	}
	id := about + ":" + strings.Join(parts, ":")
	if strings.Count(id, ":") > len(parts) { // names with colons could fall together
		id += "#" + key.String()[:8]
	}
	return id
}

// turnOf returns a number for an id.
func turnOf(n int64) string { return strconv.FormatInt(n, 10) }
