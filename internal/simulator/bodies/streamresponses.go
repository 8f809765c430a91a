package bodies

import "github.com/valyala/fastjson"

// Stream returns a reply as events: the response begins, each of its items grows, and it comes whole at the end.
func (d Responses) Stream(whole []byte, _ *fastjson.Value) []Event {
	s := &responseStream{}
	reply := wholeReply(whole)
	begun := with(reply, object{"status": "in_progress", "output": []any{}, "usage": nil, "completed_at": nil, "incomplete_details": nil})
	s.add("response.created", object{"response": begun})
	s.add("response.in_progress", object{"response": begun})
	items, _ := reply["output"].([]any)
	for i, item := range items {
		one, _ := item.(object)
		at := object{"item_id": one["id"], "output_index": i}
		list, name := "content", "content_index"
		if one["type"] == "reasoning" {
			list, name = "summary", "summary_index"
		}
		empty := with(one, object{list: []any{}})
		if one["type"] == "function_call" {
			empty = with(one, object{"arguments": ""})
		}
		if _, ok := one["status"]; ok {
			empty["status"] = "in_progress"
		}
		s.add("response.output_item.added", object{"output_index": i, "item": empty})
		parts, _ := one[list].([]any)
		for k, part := range parts {
			p, _ := part.(object)
			s.part(with(at, object{name: k}), p)
		}
		if one["type"] == "function_call" {
			for _, p := range pieces(one["arguments"]) {
				s.add("response.function_call_arguments.delta", with(at, object{"delta": p}))
			}
			s.add("response.function_call_arguments.done", with(at, object{"arguments": one["arguments"], "name": one["name"]}))
		}
		s.add("response.output_item.done", object{"output_index": i, "item": one})
	}
	end := "response.completed"
	if reply["status"] == "incomplete" {
		end = "response.incomplete"
	}
	s.add(end, object{"response": reply})
	return s.out
}

type responseStream struct{ out []Event }

func (s *responseStream) add(name string, fields object) {
	s.out = append(s.out, eventOf(name, with(fields, object{"type": name, "sequence_number": len(s.out)})))
}

// part is a text that begins, grows and ends.
func (s *responseStream) part(at, part object) {
	kind, field, frame := "output_text", "text", "content_part"
	more := object{"logprobs": []any{}}
	switch part["type"] {
	case "refusal":
		kind, field, more = "refusal", "refusal", nil
	case "summary_text":
		kind, frame, more = "reasoning_summary_text", "reasoning_summary_part", nil
	}
	s.add("response."+frame+".added", with(at, object{"part": with(part, object{field: ""})}))
	for _, p := range pieces(part[field]) {
		s.add("response."+kind+".delta", with(at, with(more, object{"delta": p})))
	}
	s.add("response."+kind+".done", with(at, with(more, object{field: part[field]})))
	s.add("response."+frame+".done", with(at, object{"part": part}))
}
