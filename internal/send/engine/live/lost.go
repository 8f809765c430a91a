package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"assay/internal/assay"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/store"
	"assay/internal/send/dialect"
)

// LogOf returns the number of the segment whose live log has a name, and reports whether it is that of one.
func LogOf(name string) (segment int64, ok bool) {
	var epoch int64
	_, err := fmt.Sscanf(name, "s%d-live-%d", &segment, &epoch)
	return segment, err == nil
}

// LostLog holds the calls in a segment's live log that the ledger lacks.
type LostLog struct {
	Size int64
	Away int64       // requests that left and did not come back
	Most assay.Money // what those cost at most, as far as it is known
}

// ReadLost reads the log of a segment that the ledger does not know. Each is called for what came back, in the order of the log.
func ReadLost(ctx context.Context, files artifacts.Place, run, name string, each func(store.Settlement) error) (l LostLog, err error) {
	file, err := files.Open(ctx, run, name)
	if errors.Is(err, fs.ErrNotExist) { // it was begun, and nothing is in it
		return l, nil
	}
	if err != nil {
		return l, err
	}
	defer file.Close()
	var dec dialect.Decoder
	away := map[int64]*assay.Money{}
	for r, err := range artifacts.Records(file) {
		if err != nil {
			return l, err
		}
		var e entry
		if err := json.Unmarshal(r.Head, &e); err != nil {
			return l, err
		}
		switch e.Is {
		case entrySent:
			away[e.Ord] = e.Most
		case entryBack, entryGot:
			delete(away, e.Ord)
		}
		if e.Is != entryGot {
			continue
		}
		s, err := e.settlement(&dec, r)
		if err != nil {
			return l, err
		}
		if err := each(s); err != nil {
			return l, err
		}
	}
	l = LostLog{Size: file.Size(), Away: int64(len(away))}
	for _, most := range away {
		if most != nil {
			l.Most += *most
		}
	}
	return l, nil
}
