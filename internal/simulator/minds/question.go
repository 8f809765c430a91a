// Package minds is the simulated models: what they answer, how they judge, and what is true of them.
//
// A Writer answers a Question by the question alone. Its models have a quality and a chance to give in to push back,
// both known; asked to judge, they find the quality of answers with known error. Truth holds the findings of a study of
// them without error.
//
// It knows no vendor, no HTTP and no clock.
package minds

import (
	"assay/internal/assay"
	"assay/internal/simulator/eyes"
)

// Question is a question to a model, whatever the wire it came over.
type Question struct {
	Vendor   string
	Model    string
	System   string
	Messages []assay.Message
	Schema   []byte // JSON Schema of the answer; nil: free text
	JSON     bool   // the answer must be some JSON object
	Stop     []string
	Shown    []eyes.Thing // beside the texts of all messages, in order

	Tools    []assay.Tool // that the model may call
	Choice   assay.ToolChoice
	OneCall  bool // at most one call at a time
	ToldBack bool // the last message is what a tool gave back

	MaxTokens int    // 0: no limit
	Effort    string // as the request has it; "": not set
	Thinks    bool   // the model thinks before it answers
	Budget    int    // tokens it may think; 0: by effort
	Thoughts  bool   // the client wants to see them
	Tier      string // the service tier that was asked for
	Refuse    bool   // decline, whatever is asked
	Weigh     bool   // a judge tells how likely its words were

	// Draw is where everything random about the answer comes from: the seed, the body and, in a batch, the key part of
	// the custom id; in a live call, how often the body was asked before.
	Draw uint64
}

// Answer is the answer of a model.
type Answer struct {
	Text     string
	Thoughts string
	Labels   []Label // that a judge chose, in their order, where it weighs them
	Refused  bool
	Calls    []assay.ToolCall // their ids are given by the wire
}

// Label is a word that a judge chose, and the chance of each that it might have chosen.
type Label struct {
	Chosen string
	Chance map[string]float64
}

// Responder is a model, or many: it answers a question by the question alone, so that a restart changes nothing.
type Responder interface {
	Respond(q *Question) Answer
}
