// Package speceval writes and reads the folders of SpecEval.
package speceval

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/results/rows"
	"assay/internal/judge"
	"assay/internal/show/export"
)

// The trees of the specification system: answers, binary compliance, ratings and rankings, one file for each group of items
// (a statement), under folders that name the specification, the judge and the models.
const (
	generationsDir = "batched_generations"
	complianceDir  = "batched_compliance"
	ratingsDir     = "batched_ratings"
	rankingsDir    = "batched_rankings"
	specPrefix     = "spec_"
	judgePrefix    = "judge_"
	inputName      = "inputs" // of a study made from them
)

// reading is one reading of an answer. Compliance has compliant and confidence, a rating has rating.
type reading struct {
	Index       *int64   `json:"original_index,omitempty"` // ours: which input it was
	Input       string   `json:"input"`
	Output      string   `json:"output"`
	Compliant   *bool    `json:"compliant"` // null: nothing could be read
	Confidence  *float64 `json:"confidence"`
	Rating      *float64 `json:"rating,omitempty"`
	Explanation string   `json:"explanation"`
	State       string   `json:"state,omitempty"` // ours: why there is no reading
}

// ranking is one comparison of two answers: 1 for the first, -1 for the second, 0 for a tie.
type ranking struct {
	Index   *int64             `json:"original_index,omitempty"` // ours: which input it was
	Input   string             `json:"input"`
	OutputA string             `json:"output_a"`
	OutputB string             `json:"output_b"`
	Rank    *int64             `json:"rank"` // null: the judge gave none, which is no tie
	Raw     string             `json:"raw_judge_response"`
	Task    string             `json:"judge_custom_id_task"`
	Custom  string             `json:"provider_expected_custom_id"`
	State   assay.VerdictState `json:"state,omitempty"` // ours: why there is no rank
}

// The stages of such a study.
const (
	answersStage   = "answers"
	specCompliance = "compliance"
	specRating     = "rating"
	specRanking    = "ranking"
)

// Read reads the trees of the specification system, wherever below the folder they are. An error message in place of
// an answer is noted and is no answer; a rank of 0 is a tie only where the judge's reply has one.
func Read(_ context.Context, from export.From, to *export.Sink) error {
	if from.File != "" {
		return export.ErrFile
	}
	tree := from.Files
	names, err := export.FilesUnder(tree, ".json", from.Folders...)
	if err != nil {
		return err
	}
	s := &reader{Sink: to, index: map[string]int64{}, next: map[string]int64{}, has: map[[2]string]bool{}}
	slices.Reverse(names) // of two generations of one model the newer counts
	var later []string
	for _, name := range names {
		text, err := export.ReadDocument(tree, name)
		if err != nil {
			to.Bad.At(assay.Place{File: name}, "%v", err)
			continue
		}
		kind := kindOf(name, text)
		if kind == specJudged || kind == specRanked {
			later = append(later, name)
			continue
		}
		if err := s.generations(name, text, kind); err != nil {
			return err
		}
	}
	slices.Reverse(later)
	for _, name := range later {
		text, err := export.ReadDocument(tree, name)
		if err != nil {
			return err
		}
		if err := s.readings(name, text); err != nil {
			return err
		}
	}
	if s.found == 0 {
		return export.ErrNothing
	}
	return nil
}

type fileKind int

const (
	specNone fileKind = iota
	specList          // answers to the inputs of one statement
	specAll           // answers to all inputs, in one file
	specJudged
	specRanked
)

// kindOf returns the kind of a file by its form and its path.
func kindOf(name string, text []byte) fileKind {
	text = bytes.TrimSpace(text)
	switch {
	case len(text) > 0 && text[0] == '[':
		return specList
	case !strings.Contains("/"+name, "/results/") && path.Base(name) != "results.json":
		return specNone
	case strings.Contains("/"+name, "/"+judgePrefix) && bytes.Contains(text, []byte(`"rankings"`)):
		return specRanked
	case strings.Contains("/"+name, "/"+judgePrefix):
		return specJudged
	case path.Base(name) == "results.json":
		return specAll
	}
	return specNone
}

// reader numbers the inputs of statements.
type reader struct {
	*export.Sink
	index map[string]int64   // of an input, by statement and text
	next  map[string]int64   // of the next input that has no number yet, by statement
	has   map[[2]string]bool // an item and a lane: has a file an answer, or only a failure?
	found int
}

var timestamp = regexp.MustCompile(`^\d{8}(_\d{4,6})?$`)

// modelOf returns the model whose folder holds results/{statement}.json or results.json.
func modelOf(name string) string {
	dir := path.Dir(name)
	if path.Base(dir) == "results" {
		dir = path.Dir(dir)
	}
	if timestamp.MatchString(path.Base(dir)) {
		dir = path.Dir(dir)
	}
	return export.NameOf(path.Base(dir))
}

func (s *reader) generations(name string, text []byte, kind fileKind) error {
	var all []generation
	var err error
	switch kind {
	case specList:
		err = json.Unmarshal(text, &all)
	case specAll:
		var doc struct {
			Results []generation `json:"results"`
		}
		err = json.Unmarshal(text, &doc)
		all = doc.Results
	default:
		if strings.Contains("/"+name, "/results/") {
			s.Bad.At(assay.Place{File: name}, "skipped: neither a list of answers nor verdicts of a judge")
		}
		return nil
	}
	if err != nil {
		s.Bad.At(assay.Place{File: name}, "not answers of a model: %v", err)
		return nil
	}
	for i, g := range all {
		at := assay.Place{File: name, Line: i + 1}
		if g.Statement == "" {
			g.Statement = export.NameOf(strings.TrimSuffix(path.Base(name), ".json"))
		}
		if g.Input == nil {
			s.Bad.At(at, "element %d has no input_text", i+1)
			continue
		}
		s.found++
		if err := s.answerOf(at, g, modelOf(name)); err != nil {
			return err
		}
	}
	return nil
}

func (s *reader) answerOf(at assay.Place, g generation, model string) error {
	item, err := s.input(g.Statement, *g.Input, g.Index)
	if err != nil {
		return err
	}
	who := [2]string{item, model}
	if g.Output == nil || failedText(*g.Output) {
		if _, known := s.has[who]; !known {
			s.has[who] = false
		}
		s.Bad.At(at, "the text of item %s by %s is an error message or nothing, and no answer", item, model)
		return nil
	}
	s.has[who] = true
	first, err := s.answer(item, model, *g.Output, g.Ending)
	if err == nil && !first {
		s.Bad.At(at, "item %s has an answer by %s in a newer file", item, model)
	}
	return err
}

// answer hands an answer on; false where it is a failure, or there is one already.
func (s *reader) answer(item, lane, text, ending string) (bool, error) {
	if failedText(text) {
		return false, nil
	}
	at := rows.At{Stage: answersStage, Input: inputName, Item: item, Lane: lane, Turn: 1, Draw: 1}
	return s.AddAnswer(&rows.Answer{At: at, Text: text, Ending: ending})
}

// missing reports whether a judge read a failure of the old program and no answer: the text that it was shown is one, or,
// where the file does not repeat that, all that was generated does.
func (s *reader) missing(item, lane, shown string) bool {
	if shown != "" {
		return failedText(shown)
	}
	answered, generated := s.has[[2]string{item, lane}]
	return generated && !answered
}

// notJudged returns the verdict on a text that is no answer, whatever the judge's was.
func notJudged() *rows.Verdict {
	return export.InvalidVerdict(assay.VerdictMissing, "there was an error message in place of an answer")
}

// failedText reports whether the old program wrote a failure where an answer should be.
func failedText(text string) bool {
	return text == "" || text == "EXPIRED" || text == "CANCELLED" || strings.HasPrefix(text, "ERROR: ") ||
		strings.HasPrefix(text, "Error during generation: ")
}

// input returns the id of an input of a statement, which becomes an item.
func (s *reader) input(statement, text string, index *int64) (string, error) {
	key := statement + "\x00" + text
	n, known := s.index[key]
	switch {
	case index != nil:
		n = *index
		s.index[key] = n
	case !known:
		n = s.next[statement]
		s.index[key] = n
	}
	s.next[statement] = max(s.next[statement], n+1)
	id := fmt.Sprintf("%s-%d", statement, n+1)
	fields, err := json.Marshal(map[string]any{"text": text, "group": statement})
	if err != nil {
		return "", err
	}
	return id, s.AddItem(&rows.Item{Input: inputName, Item: id, Cluster: statement, Fields: rows.Raw(fields)})
}

// readings reads the verdicts of a judge on the inputs of one statement.
func (s *reader) readings(name string, text []byte) error {
	var doc readingsFile
	if err := json.Unmarshal(text, &doc); err != nil {
		s.Bad.At(assay.Place{File: name}, "not readings of a judge: %v", err)
		return nil
	}
	who := modelOf(name)
	dir := path.Dir(path.Dir(path.Dir(name)))
	judge := strings.TrimPrefix(export.NameOf(path.Base(dir)), judgePrefix)
	statement := export.NameOf(strings.TrimSuffix(path.Base(name), ".json"))
	for i, r := range doc.Results {
		s.found++
		if err := s.judged(assay.Place{File: name, Line: i + 1}, statement, who, judge, r); err != nil {
			return err
		}
	}
	for i, r := range doc.Rankings {
		s.found++
		if err := s.ranked(assay.Place{File: name, Line: i + 1}, statement, doc, judge, r); err != nil {
			return err
		}
	}
	return nil
}

func (s *reader) judged(at assay.Place, statement, lane, judge string, r reading) error {
	item, err := s.input(statement, r.Input, r.Index)
	if err != nil {
		return err
	}
	if _, err := s.answer(item, lane, r.Output, ""); err != nil {
		return err
	}
	var v *rows.Verdict
	switch {
	case r.State != "":
		v = export.InvalidVerdict(assay.VerdictState(r.State), r.Explanation)
	case s.missing(item, lane, r.Output):
		v = notJudged()
	case r.Rating != nil && *r.Rating == 0: // the old program's word for a reply that it could not read
		v = export.InvalidVerdict(assay.VerdictMalformed, r.Explanation)
	case r.Rating != nil:
		v = &rows.Verdict{State: assay.VerdictValid, Score: r.Rating, Reason: r.Explanation}
	case r.Compliant == nil:
		v = export.InvalidVerdict(assay.VerdictMalformed, r.Explanation)
	case *r.Compliant:
		v = export.ValidVerdict("compliant", 1)
	default:
		v = export.ValidVerdict("noncompliant", 0)
	}
	v.At = rows.At{Stage: specCompliance, Verb: "judge", Source: answersStage, Input: inputName, Item: item, Lane: lane, Turn: 1, Draw: 1}
	v.Judge = judge
	if r.Rating != nil || strings.Contains("/"+at.File, "/"+ratingsDir+"/") {
		v.Stage = specRating
	}
	if r.Explanation != "" && v.State != assay.VerdictMissing {
		v.Reason = r.Explanation
	}
	if v.State == assay.VerdictValid {
		v.Confidence = r.Confidence
	}
	return s.Verdict(v)
}

func (s *reader) ranked(at assay.Place, statement string, doc readingsFile, judgeName string, r ranking) error {
	a, b := doc.Metadata.ModelA, doc.Metadata.ModelB
	if a == "" || b == "" {
		var found bool
		if a, b, found = strings.Cut(modelOf(at.File), "x"); !found || strings.Contains(b, "x") {
			s.Bad.At(at, "the file does not say which two models it compares")
			return nil
		}
	}
	item, err := s.input(statement, r.Input, r.Index)
	if err != nil {
		return err
	}
	for lane, text := range map[string]string{a: r.OutputA, b: r.OutputB} {
		if _, err := s.answer(item, lane, text, ""); err != nil {
			return err
		}
	}
	v := rankOf(r)
	if r.State == "" && (s.missing(item, a, r.OutputA) || s.missing(item, b, r.OutputB)) {
		v = notJudged()
	}
	v.At = rows.At{Stage: specRanking, Verb: "compare", Source: answersStage, Input: inputName, Item: item, First: a, Second: b,
		Turn: 1, Draw: 1}
	v.Judge = judgeName
	return s.Verdict(v)
}

// rankOf returns the verdict of a rank. The old program wrote 0 for a tie, for what it could not read and for what was missing.
func rankOf(r ranking) *rows.Verdict {
	switch {
	case r.State != "":
		return export.InvalidVerdict(r.State, "")
	case r.Rank == nil:
		return export.InvalidVerdict(assay.VerdictMalformed, "there is no rank")
	case *r.Rank == 1:
		return export.ValidVerdict(assay.LabelA, 1)
	case *r.Rank == -1:
		return export.ValidVerdict(assay.LabelB, 0)
	case *r.Rank != 0:
		return export.InvalidVerdict(assay.VerdictMalformed, fmt.Sprintf("rank %d", *r.Rank))
	}
	rubric, _ := judge.Builtin("better")
	said := judge.Read(rubric, assay.Outcome{Ending: assay.Answered, Text: r.Raw})
	if said.State == assay.VerdictValid && said.Label == assay.LabelTie || r.Raw == "" && r.Task != "" {
		return export.ValidVerdict(assay.LabelTie, 0.5)
	}
	if said.State == assay.VerdictValid { // its words and its rank disagree
		return export.InvalidVerdict(assay.VerdictMalformed, "rank 0, and the judge says otherwise")
	}
	return export.InvalidVerdict(said.State, said.Why)
}
