package waves

import (
	"context"

	"assay/store"
)

// Absorb reads the newest answers and writes the verdicts they make possible.
func (p *Planner) Absorb(ctx context.Context, run store.Run) error {
	_, err := p.script(ctx, run)
	return err
}
