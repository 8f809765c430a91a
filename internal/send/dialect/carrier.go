package dialect

import (
	"errors"
	"fmt"

	"assay/internal/assay"
	"assay/internal/assay/jsontext"
)

// labelName is the label of a Vertex request that holds its custom id. Vertex echoes the request, and fields beside it
// as far as is known: the id is in both places.
const labelName = "assay_id"

// AppendLine appends the line that carries req under a custom id, without a newline: the exact bytes that go out.
// After an error dst is returned as it was.
func AppendLine(dst []byte, id string, req *assay.Request) ([]byte, error) {
	if req.Wire == nil {
		return dst, errors.New("write line: the request has no wire")
	}
	b := append(dst, '{')
	label := ""
	switch req.Wire.Carrier {
	case assay.CarrierOpenAI:
		b = append(b, `"custom_id":`...)
		b = jsontext.AppendString(b, id)
		b = append(b, `,"method":"POST","url":`...)
		b = jsontext.AppendString(b, req.Wire.URL)
		b = append(b, `,"body":`...)
	case assay.CarrierBare, assay.CarrierOpenRouter:
		b = append(b, `"custom_id":`...)
		b = jsontext.AppendString(b, id)
		b = append(b, `,"body":`...)
	case assay.CarrierAnthropic:
		b = append(b, `"custom_id":`...)
		b = jsontext.AppendString(b, id)
		b = append(b, `,"params":`...)
	case assay.CarrierGemini:
		b = append(b, `"key":`...)
		b = jsontext.AppendString(b, id)
		b = append(b, `,"request":`...)
	case assay.CarrierBedrock:
		if req.Wire.Dialect == assay.DialectConverse && req.Lane != nil && len(req.Lane.Params.Tools) > 0 {
			return dst, fmt.Errorf("write line: %w", noPlace("tools in a batch"))
		}
		b = append(b, `"recordId":`...)
		b = jsontext.AppendString(b, id)
		b = append(b, `,"modelInput":`...)
	case assay.CarrierVertex:
		if req.Wire.Dialect != assay.DialectGenerate {
			return dst, fmt.Errorf("write line: a Vertex line carries a %s body, not %s", assay.DialectGenerate, req.Wire.Dialect)
		}
		b = append(b, `"custom_id":`...)
		b = jsontext.AppendString(b, id)
		b = append(b, `,"request":`...)
		label = id
	default:
		return dst, fmt.Errorf("write line: no carrier %q", req.Wire.Carrier)
	}
	b, err := appendBody(b, req, label)
	if err != nil {
		return dst, err
	}
	return append(b, '}'), nil
}

// LineFields returns the fields that a carrier's lines must have, the body's last; none where the carrier is not known.
func LineFields(c assay.Carrier) []string {
	switch c {
	case assay.CarrierOpenAI:
		return []string{"custom_id", "method", "url", "body"}
	case assay.CarrierBare, assay.CarrierOpenRouter:
		return []string{"custom_id", "body"}
	case assay.CarrierAnthropic:
		return []string{"custom_id", "params"}
	case assay.CarrierGemini:
		return []string{"key", "request"}
	case assay.CarrierVertex:
		return []string{"request"}
	case assay.CarrierBedrock:
		return []string{"recordId", "modelInput"}
	}
	return nil
}

// Frame holds the bytes before, between and after the lines of a segment.
type Frame struct {
	Open      string
	Separator string
	Close     string
	Type      string // the media type of the whole
}

// Size returns how many bytes a segment has whose lines have so many bytes together.
func (f Frame) Size(lines int, bytes int64) int64 {
	if lines > 1 {
		bytes += int64(lines-1) * int64(len(f.Separator))
	}
	return bytes + int64(len(f.Open)+len(f.Close))
}

// FrameOf returns the frame of a wire's carrier. The model is the job's, where the document names it.
func FrameOf(w assay.Wire, model string) Frame {
	switch w.Carrier {
	case assay.CarrierAnthropic:
		return Frame{Open: `{"requests":[`, Separator: ",", Close: "]}", Type: "application/json"}
	case assay.CarrierOpenRouter: // read as a stream: endpoint and model must come before the requests
		open := append([]byte(`{"endpoint":`), jsontext.AppendString(nil, w.URL)...)
		open = append(append(open, `,"model":`...), jsontext.AppendString(nil, model)...)
		open = append(open, `,"completion_window":"24h","requests":[`...)
		return Frame{Open: string(open), Separator: ",", Close: "]}", Type: "application/json"}
	}
	return Frame{Separator: "\n", Close: "\n", Type: "application/jsonl"}
}
