package batchfile

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/assay/jsontext"
	"assay/internal/send/dialect"
	"assay/internal/send/dialect/parts"
)

// namesOf returns what a client may have called a parameter of a lane, in the order in which they are looked for.
func namesOf(param string) []string {
	open := map[string][]string{
		"effort": {"reasoning_effort", "reasoning"}, "thinking": {"reasoning", "reasoning_effort"},
		"max_tokens": {"max_completion_tokens", "max_tokens", "max_output_tokens"}, "schema": {"response_format", "text"},
		"logprobs": {"logprobs", "top_logprobs"}, "prefill": {"messages", "input"}, "messages": {"messages", "input"},
	}
	if names, ok := open[param]; ok {
		return names
	}
	return []string{param}
}

// asClient names a refused parameter as the client wrote it: a member of its body, or the one that it is inside of.
func asClient(body []byte, param string) string {
	name, inside, nested := strings.Cut(param, ".")
	for _, known := range namesOf(name) {
		if jsontext.HasMember(body, known) {
			if nested && known == name {
				return known + "." + inside
			}
			return known
		}
	}
	return param
}

// placeless returns the parameter that an error says has no place; empty: it says nothing of the kind.
func placeless(err error) string {
	var none *parts.NoPlaceError
	if errors.As(err, &none) {
		name, _, _ := strings.Cut(none.Param, " ") // as in "tools in a batch"
		return name
	}
	return ""
}

// unread returns which part of a body cannot be read: the one that an error names first, and else the conversation.
func unread(body []byte, err error) string {
	if name, _, ok := strings.Cut(err.Error(), ":"); ok && jsontext.HasMember(body, name) {
		return name
	}
	return "messages"
}

// lenient takes the wish to leave out what a model or a provider does not take. It is ours, and is never sent.
func lenient(e *Entry) (bool, error) {
	wish := false
	jsontext.Members(e.Body, func(name, value []byte) {
		wish = wish || jsontext.Named(name, leniency) && string(jsontext.SkipSpace(value)) == "true"
	})
	if !jsontext.HasMember(e.Body, leniency) {
		return false, nil
	}
	return wish, e.leave(leniency)
}

// leniency is the member of a body that asks for it.
const leniency = "drop_params"

// leave takes a member out of a body.
func (e *Entry) leave(name string) error {
	body, err := dialect.AppendWithout(nil, e.Body, name)
	if err == nil {
		e.Body, e.Params = body, assay.Params{}
		if f := readBody(e); f != nil {
			err = errors.New(f.what)
		}
	}
	return err
}

// spare returns the member of a body that may be left out in place of a refusal; empty: none. What is asked, how long the answer is
// and which model gives it are never left out.
func spare(body []byte, bad *Refusal) string {
	name, _, _ := strings.Cut(bad.Param, ".")
	needed := []string{"", "model", "messages", "input", "instructions", "tools", "max_tokens", "max_completion_tokens",
		"max_output_tokens"}
	if bad.Status != 400 || bad.Code != "unsupported_parameter" && bad.Code != "unsupported_value" || slices.Contains(needed, name) ||
		!jsontext.HasMember(body, name) {
		return ""
	}
	return name
}

// aside reports whether a member of a body is kept by its sender and does not reach the model.
func aside(name string) bool {
	return slices.Contains([]string{"user", "metadata", "store", "safety_identifier", "stream", "stream_options"}, name)
}

// sealed reports whether a body asks for nothing besides the answer but thoughts in a form that only their maker reads: another
// provider has none, and leaving them out takes nothing from anyone.
func sealed(body []byte) bool {
	only := true
	jsontext.Members(body, func(name, value []byte) {
		var wants []string
		if string(name) == "include" {
			only = json.Unmarshal(value, &wants) == nil &&
				!slices.ContainsFunc(wants, func(w string) bool { return w != "reasoning.encrypted_content" })
		}
	})
	return only
}
