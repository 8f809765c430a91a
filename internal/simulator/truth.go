package simulator

import (
	"assay/internal/simulator/minds"
)

// Truth returns what is true of the models that options name or that were asked so far. Where another responder answers for them,
// nothing is known.
func (s *Server) Truth() minds.Truth {
	w, ok := s.responder.(interface {
		Truth(models ...string) minds.Truth
	})
	if !ok {
		return minds.Truth{Models: map[string]minds.Model{}}
	}
	return w.Truth(s.service.Models()...)
}
