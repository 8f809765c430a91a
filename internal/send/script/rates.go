package script

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"assay/internal/keep/store"
	"assay/internal/study/catalog"
	"assay/internal/study/plan"
)

// keepRates writes what the lanes of a run cost when it began: a later program, with other prices built in, bills it the
// same.
func (p *Library) keepRates(ctx context.Context, run int64, d *plan.Input) error {
	text, err := json.Marshal(d.LanePrices())
	if err != nil {
		return fmt.Errorf("keep prices: %w", err)
	}
	return p.Runs.PutPart(ctx, run, ratesPart, bytes.NewReader(text))
}

// Rates returns the prices that a run began with; none where it kept none.
func (p *Library) Rates(ctx context.Context, run int64) ([]catalog.Price, error) {
	var prices []catalog.Price
	err := json.NewDecoder(p.Reader.Part(ctx, run, ratesPart)).Decode(&prices)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the prices of the run: %w", err)
	}
	return prices, nil
}

// fixed returns the catalogue with the prices that a run began with. A run without them has those of the catalogue.
func (p *Library) fixed(ctx context.Context, run int64, c *catalog.Catalog) (*catalog.Catalog, error) {
	prices, err := p.Rates(ctx, run)
	if err != nil || prices == nil {
		return c, err
	}
	return c.Fixed(prices), nil
}
