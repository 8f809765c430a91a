package dialect

import (
	"cmp"
	"errors"
	"slices"

	"assay/internal/assay"
	"assay/internal/assay/jsontext"
	"assay/internal/send/dialect/likely"
)

// writeResponses writes the body of OpenAI responses.
func (w *body) writeResponses() error {
	w.modelField()
	if w.prompt.System != "" {
		w.text("instructions", w.prompt.System)
	}
	w.field("input")
	w.b = append(w.b, '[')
	w.turns("")
	w.b = append(w.b, ']')

	w.float("temperature", w.params.Temperature)
	w.float("top_p", w.params.TopP)
	w.maxTokens("max_output_tokens")
	if err := w.responsesReasoning(); err != nil {
		return err
	}
	w.seed("")
	w.responsesText()
	w.chatTools()
	if search := w.params.ServerTools.WebSearch; search != nil && search.MaxUses > 0 {
		w.number("max_tool_calls", int64(search.MaxUses))
	}
	w.several("", "top_logprobs")
	if w.params.Logprobs > 0 {
		w.field("include")
		w.b = append(w.b, `["message.output_text.logprobs"]`...)
	}
	w.tier("service_tier")
	w.keepNothing()
	w.cacheKey()
	var err error
	if w.params.TopK != nil {
		err = noPlace("top_k")
	}
	if len(w.params.Stop) > 0 {
		err = errors.Join(err, noPlace("stop"))
	}
	return err
}

func (w *body) responsesReasoning() error {
	effort := w.params.Effort
	if effort != "" && w.wire.EffortField != "" {
		w.text(w.wire.EffortField, effort)
		effort = ""
	}
	w.object("reasoning")
	err := w.reasoningFields(effort)
	if w.params.Thoughts {
		w.text("summary", "auto")
	}
	w.end()
	return err
}

func (w *body) responsesText() {
	w.object("text")
	switch w.wants() {
	case assay.SchemaWireStrict:
		w.field("format")
		w.b = append(w.b, `{"type":"json_schema","name":"answer","strict":true,"schema":`...)
		w.schema()
		w.b = append(w.b, '}')
	case assay.SchemaWireJSONObject:
		w.field("format")
		w.b = append(w.b, `{"type":"json_object"}`...)
	}
	w.end()
}

// readResponses reads a response object.
func (d *Decoder) readResponses(v jsontext.Value, r reasoning) assay.Outcome {
	o := assay.Outcome{
		Model:     d.same(&d.model, v.Get("model")),
		RequestID: d.word(v.Get("id")),
		Tier:      d.same(&d.tier, v.Get("service_tier")),
		Usage:     openUsage(v.Get("usage"), r),
	}
	refusal := d.responsesOutput(v.Get("output"), &o)
	status := d.text(v.Get("status"))
	o.Finish = status
	switch {
	case v.Get("error").Present() || status == "failed":
		return failed(o, d.fault(0, v))
	case status == "cancelled" || status == "canceled":
		o.Ending = assay.Cancelled
		o.Fault = &assay.Fault{Class: assay.FaultUnknown, Code: status}
		return o
	case status == "in_progress" || status == "queued":
		return failed(o, assay.Fault{Class: assay.FaultUnknown, Code: status, Message: "the reply is not finished"})
	case !v.Get("output").Is(jsontext.Array):
		return failed(o, unreadable("no_output", "the reply has no output"))
	case status == "incomplete":
		o.Finish = cmp.Or(d.same(&d.finish, v.Get("incomplete_details").Get("reason")), status)
		if o.Finish == "content_filter" {
			return ended(o, stopRefused)
		}
		return ended(o, stopCut)
	case refusal != "":
		o.Text = refusal
		return ended(o, stopRefused)
	}
	return ended(o, stopWhole)
}

// responsesOutput reads text, thoughts and calls of the provider's tools from the items of a response, and returns the refusal among them.
func (d *Decoder) responsesOutput(items jsontext.Value, o *assay.Outcome) (refusal string) {
	var tools assay.ToolCalls
	var containers []string // each is billed once, however often code ran in it
	for item := range items.All() {
		switch string(d.bytes(item.Get("type"))) {
		case "message":
			for part := range item.Get("content").All() {
				d.addText(d.text(part.Get("text")))
				if o.Likely == nil {
					o.Likely = likely.Open(part.Get("logprobs"))
				}
				refusal = cmp.Or(refusal, d.text(part.Get("refusal")))
			}
		case "function_call":
			o.Calls = append(o.Calls, d.readCall(item.Get("call_id"), item.Get("name"), item.Get("arguments")))
		case "web_search_call": // pages that are opened cost tokens alone
			if action := d.text(item.Get("action").Get("type")); action == "" || action == "search" {
				tools.Searches++
			}
		case "file_search_call":
			tools.Lookups++
		case "code_interpreter_call":
			if in := d.word(item.Get("container_id")); !slices.Contains(containers, in) {
				containers = append(containers, in)
			}
		case "reasoning":
			for _, name := range []string{"summary", "content"} {
				for part := range item.Get(name).All() {
					d.addThought(d.text(part.Get("text")))
				}
			}
		}
	}
	tools.Code = int64(len(containers))
	if o.Usage.Tools == (assay.ToolCalls{}) { // else the provider has counted them
		o.Usage.Tools = tools
	}
	o.Text, o.Thoughts = d.flush(paragraphs)
	return refusal
}
