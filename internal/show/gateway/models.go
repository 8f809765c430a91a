package gateway

import (
	"context"
	"net/http"

	"assay/internal/assay"
	"assay/internal/show/gateway/openai"
)

// modelObject is a model as clients see it.
type modelObject struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	Owner   string `json:"owned_by"`
}

// models lists what the catalogue knows of the providers that can be used here, as PROVIDER/MODEL.
func (s *Server) models() []modelObject {
	out := []modelObject{}
	for _, v := range s.catalog.Vendors() {
		if s.providers.Ready(v.Name) != nil {
			continue
		}
		for _, m := range s.catalog.Models(v.Name) {
			out = append(out, modelObject{ID: v.Name + "/" + m.Name, Object: "model", Owner: v.Name})
		}
	}
	return out
}

func (s *Server) listModels(context.Context, *call) (any, error) {
	return openai.List[modelObject]{Object: "list", Data: s.models()}, nil
}

func (s *Server) retrieveModel(_ context.Context, c *call) (any, error) {
	id := c.PathValue("id")
	for _, m := range s.models() {
		if m.ID == id || m.ID == "openai/"+id {
			m.ID = id
			return m, nil
		}
	}
	return nil, openai.Wrong(http.StatusNotFound, "model_not_found", "model",
		"The model '%s' does not exist or this gateway has no key for its provider.", assay.Clean(id, 100))
}
