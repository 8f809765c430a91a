package script

import (
	"context"
	"fmt"
	"io"

	"assay/internal/keep/store"
)

// Texts returns the files that a run works from, by name: the study under its own, and what it loads.
func (p *Library) Texts(ctx context.Context, run store.Run) (study string, texts map[string]string, err error) {
	s, err := p.Open(ctx, run)
	if err != nil {
		return "", nil, err
	}
	texts = map[string]string{}
	for _, name := range append([]string{s.settings.File}, s.input.Study.Loaded...) {
		text, err := io.ReadAll(p.Reader.Part(ctx, run.No, filePart+name))
		if err != nil {
			return "", nil, fmt.Errorf("read %s of run %s: %w", name, run.ID, err)
		}
		texts[name] = string(text)
	}
	return s.settings.File, texts, nil
}
