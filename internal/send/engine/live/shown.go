package live

import (
	"context"

	"assay/internal/assay"
	"assay/internal/send/engine"
	"assay/internal/send/engine/hold"
	"assay/internal/send/inlay"
	"assay/internal/send/provider"
)

// name has requests name files by ids, and uploads those that are not at the provider. Where that cannot be done now they hold the bytes.
func name(ctx context.Context, w *work, page []outgoing) error {
	if !hold.Keeps(w.Work) {
		return nil
	}
	var files []inlay.Named
	seen := map[assay.Sum]bool{}
	for i := range page {
		page[i].request.Prompt.Replaced(func(m *assay.Media) *assay.Media {
			if sum := assay.Sum(m.Sum); w.Route.Uploads.Take(m) && !seen[sum] {
				seen[sum] = true
				files = append(files, inlay.Named{Sum: sum, Kind: m.Kind, Size: m.Size})
			}
			return m
		})
	}
	began := w.Own()
	for {
		p, err := hold.PresentAt(ctx, w.Work, files)
		if err != nil && provider.FaultOf(err) == nil {
			return err
		}
		if err != nil || p.Left == 0 || engine.Elapsed(began, w.Own()) > w.Timing.Create {
			putIDs(page, p.IDs)
			return nil
		}
		if err := w.Clock.Sleep(ctx, max(p.Due.Sub(w.Clock.Now()), 0)); err != nil {
			return err
		}
	}
}

// putIDs has requests name files whose ids are known.
func putIDs(page []outgoing, ids map[assay.Sum]string) {
	if len(ids) == 0 {
		return
	}
	for i := range page {
		f, named := &page[i], false
		prompt := f.request.Prompt.Replaced(func(m *assay.Media) *assay.Media {
			id := ids[assay.Sum(m.Sum)]
			if id == "" {
				return m
			}
			own := *m
			own.File, own.Open, named = id, nil, true
			return &own
		})
		if named {
			request := *f.request
			request.Prompt, f.whole, f.request = prompt, f.request, &request
		}
	}
}

// withBytes reports whether a request met that a file it names is gone at the provider. Then it holds the bytes from here on.
func withBytes(ctx context.Context, a *sender, f *outgoing, fault *assay.Fault) bool {
	if f.whole == nil || !hold.AboutFile(fault) {
		return false
	}
	var files []inlay.Named
	f.whole.Prompt.Replaced(func(m *assay.Media) *assay.Media {
		if a.Route.Uploads.Take(m) {
			files = append(files, inlay.Named{Sum: assay.Sum(m.Sum), Kind: m.Kind, Size: m.Size})
		}
		return m
	})
	gone, err := hold.Gone(context.WithoutCancel(ctx), a.work.Work, files)
	if err != nil || !gone {
		return false
	}
	f.request, f.whole = f.whole, nil
	a.missing.Store(0)
	return true
}
