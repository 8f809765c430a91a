package judge

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"assay/internal/assay"
)

// A program judges by lines of JSON: one in for every subject, one out with the same id, in any order. It sees what a model would
// see, without fences, and never lane, model or cost.
//
//	in:  {"id":"7s5i…","item":{"id":"1","fields":{…},"expect":"…"},"answer":"…","first":"…","asked":"…","said":"…","conversation":"…"}
//	in:  {"id":"7s5i…","item":{…},"a":"…","b":"…","said":"…","trait":{"name":"…","description":"…"}}
//	out: {"id":"7s5i…","label":"right","score":1,"confidence":0.9,"explanation":"…"}
//	out: {"id":"7s5i…","abstain":"why"}
//	out: {"id":"7s5i…","error":"why"}

// Line appends the line for an answer, with its line end.
func (s Subject) Line(dst []byte, key assay.Key) ([]byte, error) {
	return appendLine(dst, question{
		ID: key.String(), Item: shownItem(s.Item), Answer: &s.Answer, First: s.First, Asked: s.Asked, Message: s.Message,
		Conversation: s.Conversation, Branch: s.Branch,
	})
}

// Line appends the line for two texts, with its line end.
func (s Showing) Line(dst []byte, key assay.Key) ([]byte, error) {
	q := question{ID: key.String(), Item: shownItem(s.Item), A: &s.A, B: &s.B, Message: s.Message}
	if s.Trait.Name != "" {
		q.Trait = &shownTrait{Name: s.Trait.Name, Description: s.Trait.Description}
	}
	return appendLine(dst, q)
}

func appendLine(dst []byte, q question) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(q); err != nil {
		return dst, fmt.Errorf("write subject %s for the program: %w", q.ID, err)
	}
	return append(dst, b.Bytes()...), nil
}

// ReadLine reads one line that a program wrote. An error means that the line belongs to no subject; whatever else is wrong with it is
// in the verdict.
func ReadLine(r Rubric, line []byte) (assay.Key, assay.Verdict, error) {
	var of struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(line, &of); err != nil {
		return assay.Key{}, assay.Verdict{}, fmt.Errorf("read the program's line %s: %w", clip(quoted(string(line))), err)
	}
	key, err := assay.ParseKey(of.ID)
	if err != nil {
		return assay.Key{}, assay.Verdict{}, fmt.Errorf("read the program's line: %w", err)
	}
	var a reply
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.UseNumber()
	if err := decoder.Decode(&a); err != nil {
		return key, without(assay.VerdictMalformed, "%s", misread(err)), nil
	}
	return key, a.verdict(r), nil
}

// misread returns why a line is no verdict, in the words of the form rather than of the language that reads it.
func misread(err error) string {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err.Error()
	}
	want := map[string]string{"score": "a number", "confidence": "a number", "fields": "an object"}[wrong.Field]
	return fmt.Sprintf("%s wants %s, got %s", wrong.Field, cmp.Or(want, "a text"), wrong.Value)
}

func (a reply) verdict(r Rubric) assay.Verdict {
	switch {
	case a.Error != "":
		return without(assay.VerdictFailed, "%s", a.Error)
	case a.Abstain != "":
		return without(assay.VerdictAbstained, "%s", a.Abstain)
	}
	label, ok := plain(a.Label)
	if !ok && a.Label != nil {
		return without(assay.VerdictMalformed, "the label is %s, which is no label", clip(quoted(a.Label)))
	}
	v := r.Take(Given{Label: label, Score: a.Score, Confidence: a.Confidence, Explanation: a.Explanation})
	if len(a.Fields) > 0 {
		v.Fields, _ = json.Marshal(a.Fields) // it was just read
	}
	return v
}

type question struct {
	ID           string         `json:"id"`
	Item         *itemShown     `json:"item,omitempty"`
	Answer       *string        `json:"answer,omitempty"`
	First        string         `json:"first,omitempty"`
	Asked        string         `json:"asked,omitempty"`
	Message      string         `json:"said,omitempty"`
	Conversation string         `json:"conversation,omitempty"`
	Branch       map[string]any `json:"branch,omitempty"`
	A            *string        `json:"a,omitempty"`
	B            *string        `json:"b,omitempty"`
	Trait        *shownTrait    `json:"trait,omitempty"`
}

type itemShown struct {
	ID     string         `json:"id"`
	Fields map[string]any `json:"fields,omitempty"`
	Expect string         `json:"expect,omitempty"`
}

func shownItem(item *assay.Item) *itemShown {
	if item == nil {
		return nil
	}
	return &itemShown{ID: item.ID, Fields: item.Fields, Expect: item.Expect}
}

type shownTrait struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

type reply struct {
	Label       any            `json:"label"`
	Score       *float64       `json:"score"`
	Confidence  *float64       `json:"confidence"`
	Explanation string         `json:"explanation"`
	Abstain     string         `json:"abstain"`
	Error       string         `json:"error"`
	Fields      map[string]any `json:"fields"`
}
