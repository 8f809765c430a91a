package plan

import "assay/internal/study"

// FieldHint is the hint for a prompt without a field.
const FieldHint = "a field of the item is written {{ text }}"

// AsksAlike reports whether an ask stage says the same about every item.
func AsksAlike(st *study.Stage) bool {
	if st.Verb() != study.VerbAsk || st.Messages != "" {
		return false
	}
	texts := []study.Text{st.System, st.Context}
	for _, p := range st.Prompt {
		texts = append(texts, p.Text)
	}
	for _, t := range st.Turns {
		texts = append(texts, t.User, t.Assistant)
		for _, b := range t.Branches {
			texts = append(texts, b.Text)
		}
		if t.Each != "" {
			return false // branches from an input bring their own words
		}
	}
	for _, m := range st.Media {
		texts = append(texts, study.Text{Template: m.Template})
	}
	for _, t := range st.Turns {
		for _, m := range t.Media {
			texts = append(texts, study.Text{Template: m.Template})
		}
	}
	words := 0
	for _, t := range texts {
		if t.Template == nil && t.Text != "" || t.Template != nil && len(t.Template.Uses()) > 0 {
			return false
		}
		words += len(t.Text)
	}
	return words > 0
}
