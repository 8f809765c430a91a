// Package bodies reads the bodies of requests and writes those of replies, in the shapes that providers share.
//
// A shape reads a body into a Request and writes a Reply to it: Chat, Responses, Embeddings, Messages, Generate, Embed,
// Ollama. Rules decide which parameters a model rejects, a Rejection is sent instead of a reply, and Usage is what a
// reply is billed.
package bodies

import (
	"net/http"
	"strings"
)

// Reading is where a body is read.
type Reading struct {
	Vendor string
	Caches bool   // the vendor caches prompts by itself
	Model  string // named by the job or the path; "": by the body
	Rules  Rules
	Batch  bool
}

// check holds the parameters against the rules.
func (rd Reading) check(a Asked) *Rejection {
	a.Vendor = rd.Vendor
	if rej := CheckModel(a.Model); rej != nil {
		return rej
	}
	return rd.Rules.Check(a)
}

// CheckModel refuses a name that no model has: none at all, and those that begin with "missing-".
func CheckModel(name string) *Rejection {
	if name == "" {
		return Invalid("model", "missing_required_parameter", "you must provide a model parameter")
	}
	if strings.HasPrefix(name[strings.LastIndex(name, "/")+1:], "missing-") {
		return &Rejection{Status: http.StatusNotFound, Code: "model_not_found",
			Message: "The model `" + name + "` does not exist or you do not have access to it."}
	}
	return nil
}
