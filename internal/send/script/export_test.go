package script

import (
	"context"
)

// Close is the last step of Absorb, as it is when a segment settled after Absorb had listed those to read.
func (s *Script) Close(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.close(ctx)
	return err
}
