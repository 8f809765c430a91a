package snapshot

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"assay/internal/find/analysis"
	"assay/internal/keep/store"
	"assay/internal/keep/store/read"
	"assay/internal/keep/store/runs"
)

// drawPart is under which name, before that of the stage, the draw of a stage is kept with its run.
const drawPart = "draw/"

// DrawOf returns the items of a stage that people are asked about, as they were drawn; nil: nobody was asked yet.
func DrawOf(ctx context.Context, r *read.Reader, run int64, stage string) (*analysis.Draw, error) {
	text, err := io.ReadAll(r.Part(ctx, run, drawPart+stage))
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what people are asked in stage %s: %w", stage, err)
	}
	var d analysis.Draw
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("read what people are asked in stage %s: %w", stage, err)
	}
	return &d, nil
}

// KeepDraw keeps the draw of a stage with its run.
func KeepDraw(ctx context.Context, runs *runs.Store, run int64, stage string, d *analysis.Draw) error {
	text, err := json.Marshal(d)
	if err != nil {
		return err
	}
	return runs.PutPart(ctx, run, drawPart+stage, bytes.NewReader(text))
}
