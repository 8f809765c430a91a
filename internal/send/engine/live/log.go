package live

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"assay/internal/assay"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/store"
)

// liveLog records what a live segment sent and received under one lease. It has one writer for ever, and can be read by itself:
// the next holder of the segment settles what came back and was not written into the ledger, and knows what was in flight.
//
//	open    which segment, under which lease
//	ahead   requests up to this ordinal may be sent from now on; synced before the first of them is
//	sent    a request leaves, with the most that it may cost; flushed before it does
//	back    it is not in flight any more, and nothing came that is kept
//	got     what came back; flushed before it is settled, and synced where the ledger has no place for its text
//	end     all of it is in the ledger
//
// What is flushed survives a kill but not the power. After that, whatever lies behind the last "ahead" may have been sent.
type liveLog struct {
	*artifacts.Log
	name string
	no   int64 // of the artifact

	head  bytes.Buffer  // of the last record of what came back; its memory is used again, and so is that of the outcome in it
	short assay.Outcome // without its texts
}

// entry is the head of a record of a live log.
type entry struct {
	Is      string         `json:"is"`
	Ord     int64          `json:"ord,omitempty"`
	Key     string         `json:"key,omitempty"`
	As      assay.Dialect  `json:"as,omitempty"` // how the text is read from the body; empty: it is in the outcome
	Outcome *assay.Outcome `json:"outcome,omitempty"`
	Segment int64          `json:"segment,omitempty"`
	Epoch   int64          `json:"epoch,omitempty"`
	Boot    string         `json:"boot,omitempty"`
	Most    *assay.Money   `json:"most,omitempty"` // nil: unknown
}

const (
	entryOpen  = "open"
	entryAhead = "ahead"
	entrySent  = "sent"
	entryBack  = "back"
	entryGot   = "got"
	entryEnd   = "end"
)

func (w *work) openLog(ctx context.Context) (*liveLog, error) {
	name := fmt.Sprintf("s%d-live-%d", w.Seg.No, w.Lease.Epoch)
	log, err := w.Files.Log(w.Run.ID, name)
	if err != nil {
		return nil, err
	}
	l := &liveLog{Log: log, name: name}
	head, err := json.Marshal(entry{Is: entryOpen, Segment: w.Seg.No, Epoch: w.Lease.Epoch, Boot: artifacts.Boot(w.Files)})
	if err == nil {
		_, err = log.Add(head, nil)
	}
	if err == nil {
		err = w.persist(ctx, log, log.Sync)
	}
	if err == nil {
		l.no, err = w.Ledger.Work.AddArtifact(ctx, w.Lease, store.Artifact{Name: name, Kind: store.ArtifactLive})
	}
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return l, nil
}

// mark adds a record without a body about one request. Most is its highest cost, where that is known.
func (l *liveLog) mark(is string, ord int64, most *assay.Money) error {
	head := append(make([]byte, 0, 64), `{"is":"`...)
	head = append(head, is...)
	head = append(head, `","ord":`...)
	head = strconv.AppendInt(head, ord, 10)
	if most != nil {
		head = append(head, `,"most":`...)
		head = strconv.AppendInt(head, int64(*most), 10)
	}
	_, err := l.Add(append(head, '}'), nil)
	return err
}

// got adds what came back, and points the settlement at its raw bytes. One goroutine alone calls it.
func (l *liveLog) got(r *reply, s *store.Settlement) error {
	e := entry{Is: entryGot, Ord: r.Ord, Key: r.Key.String(), Outcome: &r.Outcome}
	if r.Raw != nil && r.Outcome.Fault == nil { // the text is in the raw bytes
		e.As = r.dialect
		l.short = r.Outcome
		l.short.Text, l.short.Thoughts = "", ""
		e.Outcome = &l.short
	}
	l.head.Reset()
	if err := json.NewEncoder(&l.head).Encode(e); err != nil {
		return err
	}
	at, err := l.Add(bytes.TrimSuffix(l.head.Bytes(), []byte("\n")), r.Raw)
	if err == nil && len(r.Raw) > 0 {
		s.Artifact, s.Offset, s.Length, s.Sum = l.no, at, int64(len(r.Raw)), artifacts.Sum(r.Raw)
	}
	return err
}

// keep makes what came back outlive this process, and the power where the log alone has a text. Requests that leave write
// into the log, too, and would wait for every sync: the ledger, which has the other texts, is durable by itself.
func (l *liveLog) keep(block []store.Settlement) error {
	for i := range block {
		if block[i].Long() {
			return l.Sync()
		}
	}
	return l.Flush()
}

// note adds a record about a request, and makes it survive something before anything else is done.
func (a *sender) note(ctx context.Context, is string, about store.InFlight, survive func() error) error {
	if err := a.log.mark(is, about.Ord, about.High); err != nil {
		return err
	}
	return a.persist(ctx, a.log.Log, survive)
}

// persist repeats a call that makes the log survive something, while its place cannot be reached and for as long as a lease lasts.
// A log that takes nothing more is not called again.
func (w *work) persist(ctx context.Context, log *artifacts.Log, call func() error) error {
	var broken error
	err := w.Insist(ctx, func() error {
		err := call()
		if err != nil && log.Broken() {
			broken, err = err, nil
		}
		return err
	})
	return cmp.Or(broken, err)
}

// finishLog closes a log all of which is in the ledger: no process has to read it again.
func (w *work) finishLog(ctx context.Context, l *liveLog) error {
	if err := errors.Join(l.mark(entryEnd, 0, nil), l.Close()); err != nil {
		return err
	}
	return w.Insist(ctx, func() error {
		_, err := w.Ledger.Work.AddArtifact(ctx, w.Lease, store.Artifact{Name: l.name, Kind: store.ArtifactLive, Size: l.Size()})
		return err
	})
}
