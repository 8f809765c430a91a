package export

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
	"assay/internal/study"
	"assay/internal/study/plan"
)

// inspectLog is one log under construction.
type inspectLog struct {
	*inspector
	st     *study.Stage
	lane   string // of comparisons: the judge
	input  string
	turns  int64
	file   *inspectFile // nil: it has no sample yet
	config map[string]any
	more   map[string]any
	model  string

	samples, completed, epochs int64
	last                       time.Time
	models, roles              inspectUsed
	scores                     map[string]*inspectScores
}

func (x *inspector) log(st *study.Stage, lane string) *inspectLog {
	l := &inspectLog{
		inspector: x, st: st, lane: lane, input: (&plan.Input{Study: x.Study}).Root(st), config: map[string]any{}, more: map[string]any{},
		models: inspectUsed{}, roles: inspectUsed{}, scores: map[string]*inspectScores{}, model: x.modelOf(st.Name, lane),
	}
	for i := range st.Turns {
		if st.Turns[i].Asked() {
			l.turns++
		}
	}
	l.turns = max(1, l.turns)
	return l
}

// ids are the names of a log: of its task, and the one that no other log has.
func (l *inspectLog) ids() (task, id string) {
	return strings.ReplaceAll(l.Run.Study, "/", "-") + "." + l.st.Name, inspectID(l.Run.ID, l.st.Name, l.lane, "task")
}

// put writes a sample and adds it to the sums of its log.
func (l *inspectLog) put(s *inspectSample, cluster string, at time.Time) error {
	if l.file == nil {
		task, id := l.ids()
		stamp := strings.NewReplacer(":", "-", "+", "-").Replace(l.Run.Created.UTC().Format("2006-01-02T15:04:05-00:00"))
		name := strings.Map(func(c rune) rune { // Inspect takes a name apart at its underscores
			if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' {
				return c
			}
			return '-'
		}, task)
		var err error
		if l.file, err = newInspectFile(l.tree, stamp+"_"+name+"_"+id, l.form); err != nil {
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
			sums = &inspectScores{at: map[[16]byte]int{}}
			l.scores[score.name] = sums
		}
		sums.add(score.value, cluster)
	}
	whole, short, err := s.texts()
	if err != nil {
		return err
	}
	return l.file.add(fmt.Sprintf("samples/%s_epoch_%d.json", s.ID, s.Epoch), whole, short)
}

// texts are a sample and its summary as JSON.
func (s *inspectSample) texts() (whole, short []byte, err error) {
	if whole, err = withScores(s, s.scores); err != nil {
		return nil, nil, err
	}
	sum := inspectSummary{
		ID: s.ID, Epoch: s.Epoch, Target: thinText(s.Target), Metadata: thin(s.Metadata), Models: s.Models, Roles: s.Roles, Started: s.Started, Completed: s.Completed,
		UUID: s.UUID, Done: true, Messages: len(s.Messages), Input: slices.Clone(s.Input),
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
func withScores(v any, scores []inspectScore) ([]byte, error) {
	text, err := marshal(v)
	if err != nil || len(scores) == 0 {
		return text, err
	}
	text = append(text[:len(text)-1], `,"scores":{`...)
	for i, s := range scores {
		name, err := marshal(s.name)
		if err != nil {
			return nil, err
		}
		value := []byte("NaN")
		if s.value != nil {
			if value, err = marshal(s.value); err != nil {
				return nil, err
			}
		}
		rest, err := marshal(s)
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
func (l *inspectLog) close() error {
	if l.file == nil {
		return nil
	}
	header, err := marshal(l.header())
	if err != nil {
		return err
	}
	return l.file.close(header)
}

func (l *inspectLog) header() inspectHeader {
	task, id := l.ids()
	mark := &inspectMark{
		Run: l.Run.ID, Study: l.Run.Study, Stage: l.st.Name, Lane: l.lane, Verb: string(l.st.Verb()), Input: l.input, Rehearsal: l.Run.Rehearsal,
		State: string(l.Run.State), Result: string(l.Run.Result),
	}
	if _, ok := l.Study.Stage(l.st.Compare); ok {
		mark.Source = l.st.Compare
	}
	h := inspectHeader{
		Version: inspectVersion, Status: "started",
		Eval: inspectEval{
			Set: l.Run.ID, ID: inspectID(l.Run.ID, l.st.Name, l.lane), Run: l.Run.ID, Created: inspectTime(l.Run.Created), Task: task, TaskID: id,
			Shown: l.Run.Study + ": " + l.st.Name, Args: map[string]string{"lane": l.lane}, Tags: []string{"assay", l.Run.Study, l.lane}, Metadata: inspectOrigin{mark},
			Dataset: inspectDataset{Name: cmp.Or(l.input, l.Run.Study), Samples: l.samples}, Model: l.model, Config: l.config, Further: l.more,
			Epochs: inspectEpochs{max(1, l.epochs)},
		},
		Plan:    inspectPlan{Steps: []inspectStep{{Solver: "assay", Params: map[string]any{}}}, Config: l.config},
		Results: inspectResults{Total: l.samples, Completed: l.completed, Scores: []inspectTotal{}},
		Stats:   inspectStats{Started: inspectTime(l.Run.Created), Models: l.models, Roles: l.roles},
	}
	switch {
	case l.Run.Result == store.ResultCancelled:
		h.Status = "cancelled"
	case l.Run.State == store.RunClosed:
		h.Status = "success"
	}
	if l.Run.Rehearsal {
		h.Eval.Tags, h.Eval.Shown = append(h.Eval.Tags, "rehearsal"), h.Eval.Shown+" (REHEARSAL)"
	}
	if l.version != "" {
		h.Eval.Packages = map[string]string{"assay": l.version}
	}
	if !l.last.IsZero() {
		h.Stats.Completed = inspectTime(l.last)
	}
	for _, name := range slices.Sorted(maps.Keys(l.scores)) {
		s := l.scores[name]
		h.Eval.Scorers = append(h.Eval.Scorers, inspectNamed{name})
		h.Results.Scores = append(h.Results.Scores, inspectTotal{
			Name: name, Scorer: name, Scored: s.scored, Unscored: s.unscored, Params: map[string]any{}, Metrics: s.metrics(),
		})
	}
	return h
}

// sampleID is a name of a sample that no other one of its log has: what it is about, and where it stands, as far as that is needed.
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

// turnOf is a number for an id.
func turnOf(n int64) string { return strconv.FormatInt(n, 10) }
