package bodies

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/valyala/fastjson"
)

// Stream returns a reply of Converse as events: each block begins, grows and ends.
func (d Converse) Stream(whole []byte, _ *fastjson.Value) []Event {
	reply := wholeReply(whole)
	output, _ := reply["output"].(object)
	message, _ := output["message"].(object)
	content, _ := message["content"].([]any)
	out := []Event{eventOf("messageStart", object{"role": "assistant"})}
	for i, part := range content {
		block, _ := part.(object)
		add := func(name string, fields object) {
			out = append(out, eventOf(name, with(fields, object{"contentBlockIndex": i})))
		}
		grow := func(text any, as func(string) object) {
			for _, p := range pieces(text) {
				add("contentBlockDelta", object{"delta": as(p)})
			}
		}
		if call, ok := block["toolUse"].(object); ok {
			add("contentBlockStart", object{"start": object{"toolUse": object{"toolUseId": call["toolUseId"], "name": call["name"]}}})
			grow(string(AppendJSON(nil, call["input"])), func(p string) object { return object{"toolUse": object{"input": p}} })
		}
		if thought, ok := block["reasoningContent"].(object); ok {
			text, _ := thought["reasoningText"].(object)
			grow(text["text"], func(p string) object { return object{"reasoningContent": object{"text": p}} })
		}
		if text, ok := block["text"]; ok {
			grow(text, func(p string) object { return object{"text": p} })
		}
		add("contentBlockStop", nil)
	}
	return append(out, eventOf("messageStop", object{"stopReason": reply["stopReason"]}),
		eventOf("metadata", object{"usage": reply["usage"], "metrics": reply["metrics"]}))
}

// Frame returns an event as Amazon sends it: lengths and headers in binary, the document, and two sums.
func (d Converse) Frame(e Event) []byte {
	var head []byte
	for _, h := range [][2]string{{":event-type", e.Name}, {":content-type", "application/json"}, {":message-type", "event"}} {
		const text = 7 // the type of a header whose value is a text
		head = append(append(append(head, byte(len(h[0]))), h[0]...), text)
		head = append(binary.BigEndian.AppendUint16(head, uint16(len(h[1]))), h[1]...)
	}
	const sums = 16 // bytes of lengths and sums
	out := binary.BigEndian.AppendUint32(nil, uint32(len(head)+len(e.Data)+sums))
	out = binary.BigEndian.AppendUint32(out, uint32(len(head)))
	out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out))
	out = append(append(out, head...), e.Data...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out))
}
