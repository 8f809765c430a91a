package judge

import (
	"strings"

	"assay/internal/assay"
	"assay/internal/study/prompt"
)

// Subject is an answer with what led to it.
type Subject struct {
	Item         *assay.Item
	Answer       string
	First        string // the first answer of the conversation
	Asked        string // the message that the first answer followed
	Message      string // the message that the answer followed
	Conversation string // all of it, as Conversation writes it
	Branch       map[string]any
	Bare         bool           // it is shown without fences
	Media        []*assay.Media // that the model was shown
}

// Showing is two texts side by side.
type Showing struct {
	Item    *assay.Item // what both answer; nil where the two are items themselves
	A, B    string
	Message string         // the message that both answer; empty where the two are items themselves
	Trait   Trait          // the zero value: none
	Ties    bool           // whether the judge may call a tie
	Bare    bool           // the two are shown without fences
	Media   []*assay.Media // that both models were shown
}

// Scope returns what the prompt of a rubric may use, given what is known of the item: never lane, model or cost. Subject.Values and
// Showing.Values fill exactly these names.
func Scope(kind Kind, item prompt.Scope) prompt.Scope {
	text := prompt.Shape{Kind: prompt.Text}
	one := prompt.Shape{Kind: prompt.Record, Fields: map[string]prompt.Shape{"text": text}}
	names := map[string]prompt.Shape{"expect": text, "said": text, "statement_block": text}
	if kind == Pairs {
		names["a"], names["b"], names["ties"] = one, one, prompt.Shape{Kind: prompt.Bool}
		names["trait"] = prompt.Shape{Kind: prompt.Record, Fields: map[string]prompt.Shape{"name": text, "description": text}}
	} else {
		names["answer"], names["first"], names["asked"], names["conversation"] = one, one, text, text
		names["branch"] = prompt.Shape{Kind: prompt.Record, Open: true}
	}
	item.Names = names
	return item
}

// Values returns what a judge's prompt is filled with. All texts of the conversation are fenced; texts of the
// study are not. An empty text stays empty. A bare subject is not fenced.
func (s Subject) Values() prompt.Values {
	v, fence := ofItem(s.Item), fences(s.Bare)
	v.Names["answer"] = map[string]any{"text": fence(s.Answer)}
	v.Names["first"] = map[string]any{"text": fence(s.First)}
	v.Names["asked"] = fence(s.Asked)
	v.Names["said"] = fence(s.Message)
	v.Names["conversation"] = fence(s.Conversation)
	v.Names["branch"] = s.Branch
	if s.Branch == nil {
		v.Names["branch"] = map[string]any{}
	}
	return v
}

// Values returns what a judge's prompt is filled with. Both texts and the message are fenced, unless the showing is bare.
func (s Showing) Values() prompt.Values {
	v, fence := ofItem(s.Item), fences(s.Bare)
	v.Names["a"] = map[string]any{"text": fence(s.A)}
	v.Names["b"] = map[string]any{"text": fence(s.B)}
	v.Names["said"] = fence(s.Message)
	v.Names["trait"] = map[string]any{"name": s.Trait.Name, "description": s.Trait.Description}
	v.Names["ties"] = s.Ties
	return v
}

func ofItem(item *assay.Item) prompt.Values {
	if item == nil {
		item = &assay.Item{}
	}
	return prompt.Values{
		Fields: item.Fields,
		Names:  map[string]any{"expect": item.Expect, "statement_block": statement(item.Fields)},
	}
}

// Conversation writes messages one below the other for people and judges to read.
func Conversation(messages []assay.Message) string {
	var b strings.Builder
	for i, m := range messages {
		if i > 0 {
			b.WriteString("\n\n")
		}
		if m.Role == assay.RoleAssistant {
			b.WriteString("Assistant: ")
		} else {
			b.WriteString("User: ")
		}
		b.WriteString(m.Text)
	}
	return b.String()
}
