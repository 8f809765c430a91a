package judge

import (
	"fmt"
	"strings"
)

// Statement returns the rule that an item is about, as far as a text quotes it: as a block, or its words alone.
func Statement(fields map[string]any, in string) string {
	for _, text := range []string{statement(fields), words(fields)} {
		if text != "" && strings.Contains(in, text) {
			return strings.TrimPrefix(text, "Text: ")
		}
	}
	return ""
}

// words returns the rule that an item is about without what stands beside it.
func words(fields map[string]any) string {
	for _, name := range statementFields() {
		if record, ok := fields[name].(map[string]any); ok {
			return firstText(record, "text", "statement", "content")
		}
	}
	return firstText(fields, statementFields()...)
}

// statement returns the rule that an item is about, as a block of text: from a record in one of the statement fields (a join
// leaves one there), or from such a field that holds the text itself, with the fields beside it. Empty: the item has none.
func statement(fields map[string]any) string {
	for _, name := range statementFields() {
		if record, ok := fields[name].(map[string]any); ok {
			return block(record, firstText(record, "text", "statement", "content"))
		}
	}
	for _, name := range statementFields() {
		if text := firstText(fields, name); text != "" {
			beside := make(map[string]any, len(fields))
			for k, v := range fields {
				if k != "id" && k != "metadata" { // those are the item's own
					beside[k] = v
				}
			}
			return block(beside, text)
		}
	}
	return ""
}

// EmptyStatement reports whether an item brings a statement that has no text, and in which field.
func EmptyStatement(fields map[string]any) (field string, empty bool) {
	for _, name := range statementFields() {
		if record, ok := fields[name].(map[string]any); ok {
			return name, firstText(record, "text", "statement", "content") == ""
		}
	}
	for _, name := range statementFields() {
		if _, ok := fields[name]; ok {
			return name, firstText(fields, name) == ""
		}
	}
	return "", false
}

func block(fields map[string]any, text string) string {
	var b strings.Builder
	for _, line := range []struct {
		title string
		names []string
	}{
		{"ID", []string{"id"}},
		{"Type", []string{"type"}},
		{"Authority", []string{"authority", "authority_level"}},
		{"Section", []string{"section"}},
		{"Subsection", []string{"subsection"}},
	} {
		if value := firstText(fields, line.names...); value != "" {
			fmt.Fprintf(&b, "%s: %s\n", line.title, value)
		}
	}
	if text != "" {
		b.WriteString("Text: " + text + "\n")
	}
	examples, _ := fields["examples"].([]any)
	if meta, ok := fields["metadata"].(map[string]any); ok && examples == nil {
		examples, _ = meta["examples"].([]any)
	}
	for i, e := range examples {
		example(&b, i+1, e)
	}
	return strings.TrimSpace(b.String())
}

func example(b *strings.Builder, number int, e any) {
	fields, ok := e.(map[string]any)
	if !ok {
		fields = map[string]any{"description": e}
	}
	fmt.Fprintf(b, "\nExample %d: %s\n", number, firstText(fields, "description"))
	for _, part := range []struct{ title, name string }{
		{"Message", "user_query"}, {"A response that keeps to it", "good_response"}, {"A response that breaks it", "bad_response"},
	} {
		if value := firstText(fields, part.name); value != "" {
			fmt.Fprintf(b, "%s: %s\n", part.title, value)
		}
	}
}

// firstText returns the first of these fields that holds something to print.
func firstText(fields map[string]any, names ...string) string {
	for _, name := range names {
		switch v := fields[name].(type) {
		case string:
			if v = strings.TrimSpace(v); v != "" {
				return v
			}
		case float64, int64, bool:
			return fmt.Sprint(v)
		}
	}
	return ""
}
