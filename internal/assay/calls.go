package assay

import "strings"

// CallsText returns calls of tools as people and judges read them, one a line: [calls NAME ARGUMENTS].
func CallsText(calls []ToolCall) string {
	lines := make([]string, len(calls))
	for i := range calls {
		lines[i] = strings.TrimSpace("[calls "+calls[i].Name+" "+calls[i].Given()) + "]"
	}
	return strings.Join(lines, "\n")
}

// Reading returns an answer as people and judges read it: its text, and behind it the calls of tools. The text of a model that
// looks like a call is none: rules go by the calls themselves.
func (o *Outcome) Reading() string {
	calls := CallsText(o.Calls)
	switch {
	case calls == "" || strings.HasSuffix(o.Text, calls): // it was read before
		return o.Text
	case strings.TrimSpace(o.Text) == "":
		return calls
	}
	return o.Text + "\n\n" + calls
}

// Words returns the text of an answer without the calls of tools that it may have been read with.
func (o *Outcome) Words() string {
	if len(o.Calls) == 0 {
		return o.Text
	}
	return strings.TrimSpace(strings.TrimSuffix(o.Text, CallsText(o.Calls)))
}
