package dialect

import (
	"errors"

	"assay/internal/assay"
	"assay/internal/assay/jsontext"
)

// Why a line is none of a provider's results.
var (
	ErrNoObject = errors.New("the line is no JSON object")
	ErrRequest  = errors.New("this is a line of requests, not of results")
	ErrNoResult = errors.New("not a line of any provider's results")
)

// WireOf recognises in which form a line of results is written, by the fields that only one form has.
func WireOf(line []byte) (assay.Wire, error) {
	var r resultLine
	if !jsontext.Members(line, r.take) {
		return assay.Wire{}, ErrNoObject
	}
	google := assay.CarrierVertex
	if r.key != nil {
		google = assay.CarrierGemini
	}
	switch {
	case r.modelOutput != nil:
		return assay.Wire{Carrier: assay.CarrierBedrock, Dialect: modelOf(r.modelOutput)}, nil
	case r.record && r.failed:
		return assay.Wire{Carrier: assay.CarrierBedrock, Dialect: assay.DialectConverse}, nil
	case r.result != nil && r.result[0] == '{':
		return assay.Wire{Carrier: assay.CarrierAnthropic, Dialect: assay.DialectMessages}, nil
	case r.batchResult != nil: // xAI alone writes it
		return assay.Wire{Carrier: assay.CarrierOpenAI, Dialect: assay.DialectChat, ReasoningApart: true}, nil
	case jsontext.HasMember(r.response, "candidates", "promptFeedback", "usageMetadata", "modelVersion"):
		return assay.Wire{Carrier: google, Dialect: assay.DialectGenerate}, nil
	case r.key == nil && r.response != nil && r.response[0] == '{' && r.request == nil:
		return assay.Wire{Carrier: assay.CarrierOpenAI, Dialect: apiOf(r.response)}, nil
	case r.customID != nil && r.failed:
		return assay.Wire{Carrier: assay.CarrierOpenAI, Dialect: assay.DialectChat}, nil
	case r.key != nil && (r.failed || r.response != nil), r.request != nil && (r.status != nil || r.failed):
		return assay.Wire{Carrier: google, Dialect: assay.DialectGenerate}, nil
	case r.asks:
		return assay.Wire{}, ErrRequest
	}
	return assay.Wire{}, ErrNoResult
}

// resultLine holds the members of a line that show its form; slices of the line itself.
type resultLine struct {
	key, customID, response, result, batchResult, request, status, modelOutput []byte

	failed, asks, record bool
}

func (r *resultLine) take(name, value []byte) {
	if string(value) == "null" {
		return
	}
	switch string(name) {
	case "key":
		r.key = value
	case "custom_id":
		r.customID = value
	case "response":
		r.response = value
	case "error", "error_message":
		r.failed = true
	case "result":
		r.result = value
	case "batch_result":
		r.batchResult = value
	case "request":
		r.request, r.asks = value, true
	case "status":
		r.status = value
	case "body", "params", "modelInput":
		r.asks = true
	case "recordId":
		r.record = true
	case "modelOutput":
		r.modelOutput = value
	}
}

// apiOf returns which of two APIs wrote a response of the OpenAI kind.
func apiOf(response []byte) assay.Dialect {
	body := response
	jsontext.Members(response, func(name, value []byte) {
		if jsontext.Named(name, "body") {
			body = value
		}
	})
	if jsontext.HasMember(body, "output") && !jsontext.HasMember(body, "choices") {
		return assay.DialectResponses
	}
	return assay.DialectChat
}

// modelOf is in which dialect a model of Bedrock answered: the one that all have, or its own.
func modelOf(reply []byte) assay.Dialect {
	switch {
	case jsontext.HasMember(reply, "choices"):
		return assay.DialectChat
	case jsontext.HasMember(reply, "content"):
		return assay.DialectMessages
	}
	return assay.DialectConverse
}
