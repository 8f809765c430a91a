package hold

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/engine"
	"assay/internal/send/inlay"
	"assay/internal/send/provider"
	"assay/internal/study/media"
)

// Present is what is at the provider of files that requests name.
type Present struct {
	IDs  map[assay.Sum]string
	Left int       // files that are not there yet
	Due  time.Time // with Left: when to look again
}

const (
	uploadsAtOnce = 8
	uploadsAStep  = 512 // after so many, orders are looked at
	slowestUpload = 100_000
)

// Keeps reports whether the provider keeps files that requests of the segment show.
func Keeps(w *Work) bool {
	return w.Route.Shows && len(w.Route.Uploads.Kinds) > 0 && w.Access.Files != nil
}

// PresentAt uploads files that are not at the provider, or not for long enough, and returns the ids of those that are. It sends a file once
// for each account: its row is in the ledger before, and where a call was lost, or the ledger is new to the account, the file is looked for
// under its name first.
func PresentAt(ctx context.Context, w *Work, files []inlay.Named) (Present, error) {
	p := Present{IDs: map[assay.Sum]string{}}
	if len(files) == 0 {
		return p, nil
	}
	now := w.Clock.Now()
	u := &uploading{Work: w, needed: now.Add(nameable(w)), began: now, ids: p.IDs}
	var err error
	if u.have, err = w.Ledger.Uploads.Of(ctx, accountOf(w), sumsOf(files)); err != nil {
		return p, err
	}
	look := false
	if len(u.have) == 0 { // perhaps the ledger is new to the account
		known, err := w.Ledger.Uploads.Any(ctx, accountOf(w))
		if err != nil {
			return p, err
		}
		look = !known
	}
	var missing []inlay.Named
	for _, f := range files {
		row := u.have[f.Sum]
		if row.Usable(u.needed) {
			p.IDs[f.Sum] = row.File
			continue
		}
		missing = append(missing, f)
		look = look || row.Calls > 0 && row.File == ""
	}
	if len(missing) > 0 && look {
		if u.there, err = listed(ctx, w, sumsOf(missing)); err != nil {
			return p, err
		}
	}
	some := missing[:min(len(missing), uploadsAStep)]
	err = u.all(ctx, some)
	p.Left, p.Due = len(files)-len(p.IDs), w.Clock.Now()
	if len(some) == len(missing) {
		p.Due = p.Due.Add(w.Poll(0))
	}
	return p, err
}

// accountOf identifies key and address: an id of one means nothing to another.
func accountOf(w *Work) string { return w.Access.Fingerprint + " " + w.Access.BaseURL }

// nameable returns for how long requests that go out now may name a file.
func nameable(w *Work) time.Duration {
	longest := w.Timing.Ask
	if w.Seg.Mode == store.Batch {
		longest = 24 * time.Hour
		if l := w.Access.Batch.Limits().Longest; l > 0 {
			longest = l
		}
	}
	return min(longest, w.Route.Uploads.Lasts/2)
}

func sumsOf(files []inlay.Named) []assay.Sum {
	sums := make([]assay.Sum, len(files))
	for i := range files {
		sums[i] = files[i].Sum
	}
	return sums
}

// listed reads which of some files are at the provider, by name.
func listed(ctx context.Context, w *Work, sums []assay.Sum) (map[string]provider.Kept, error) {
	wanted := make(map[string]bool, len(sums))
	for _, sum := range sums {
		wanted[uploadName(store.Upload{Sum: sum})] = true
	}
	all := map[string]provider.Kept{}
	for f, err := range w.Access.Files.Kept(ctx) {
		if err != nil {
			return nil, err
		}
		first := f.Name[:min(len(f.Name), len(uploadPrefix)+2*namedBytes)] // however often it was renewed
		if before, ok := all[f.Name]; wanted[first] && (!ok || before.Expires.Before(f.Expires)) {
			all[f.Name] = f
		}
	}
	return all, nil
}

const (
	uploadPrefix = "assay-"
	namedBytes   = 14 // of its sum, in the name of a file
)

// uploadName returns the name of a file at its provider: by its content, and how often it was renewed.
func uploadName(u store.Upload) string {
	name := uploadPrefix + hex.EncodeToString(u.Sum[:namedBytes])
	if u.Renewed > 0 {
		name += fmt.Sprintf("-%d", u.Renewed)
	}
	return name
}

// uploading is one look at files that are missing.
type uploading struct {
	*Work
	needed, began time.Time
	have          map[assay.Sum]store.Upload
	there         map[string]provider.Kept

	mu  sync.Mutex
	ids map[assay.Sum]string
}

// all sends files, some at a time. The first error ends it.
func (u *uploading) all(ctx context.Context, files []inlay.Named) error {
	next := make(chan inlay.Named)
	errs := make(chan error, uploadsAtOnce)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var wg sync.WaitGroup
	for range min(uploadsAtOnce, len(files)) {
		wg.Go(func() {
			for f := range next {
				if err := u.one(ctx, f); err != nil {
					errs <- err
					stop()
					return
				}
			}
		})
	}
feed:
	for _, f := range files {
		select {
		case next <- f:
		case <-ctx.Done():
			break feed
		}
	}
	close(next)
	wg.Wait()
	select {
	case err := <-errs:
		return err
	default:
		return ctx.Err()
	}
}

// one finds a file that was sent before, or sends it.
func (u *uploading) one(ctx context.Context, f inlay.Named) error {
	row, known := u.have[f.Sum]
	if known && row.File == "" {
		if taken, err := u.take(ctx, row); taken || err != nil {
			return err
		}
		if row.Until.After(u.began) { // the call may be on its way, here or elsewhere
			return nil
		}
	}
	most := u.Timing.Create + time.Duration(f.Size/slowestUpload)*time.Second
	began := u.Own()
	own := store.Upload{Account: accountOf(u.Work), Provider: u.Seg.Provider, Sum: f.Sum, Bytes: f.Size}
	claimed, ok, err := u.Ledger.Uploads.Claim(ctx, own, u.Clock.Now().Add(most+u.Timing.LagStamped), u.needed)
	if err != nil || !ok {
		return err
	}
	if taken, err := u.take(ctx, claimed); taken || err != nil { // another ledger has sent it
		return err
	}
	if engine.Elapsed(began, u.Own()) > u.Timing.Create/2 {
		return u.Ledger.Uploads.Drop(context.WithoutCancel(ctx), claimed)
	}
	call, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	kept, err := u.send(call, f, claimed)
	if err != nil {
		if provider.FaultOf(err) == nil || provider.LaunchStatusOf(err) == provider.Refused {
			err = errors.Join(err, u.unsent(ctx, claimed, err))
		}
		return fmt.Errorf("upload what requests show: %w", err)
	}
	return u.keep(ctx, claimed, kept)
}

// unsent takes a claim back where the call was surely not made, or refused.
func (u *uploading) unsent(ctx context.Context, claimed store.Upload, why error) error {
	if provider.FaultOf(why) == nil && !isLost(why) {
		return nil // the context ended: the file may be there
	}
	return u.Ledger.Uploads.Drop(context.WithoutCancel(ctx), claimed)
}

func isLost(err error) bool {
	lost := (*assay.LostFileError)(nil)
	return errors.As(err, &lost)
}

// take takes a file that was found under its name.
func (u *uploading) take(ctx context.Context, row store.Upload) (bool, error) {
	k, ok := u.there[uploadName(row)]
	if !ok || !k.Ready || k.Bytes > 0 && k.Bytes != row.Bytes || !k.Expires.IsZero() && k.Expires.Before(u.needed) {
		return false, nil
	}
	return true, u.keep(ctx, row, k)
}

// keep notes where a file is. One that the provider still works on is found once it is done.
func (u *uploading) keep(ctx context.Context, row store.Upload, k provider.Kept) error {
	if !k.Ready {
		return nil
	}
	row.File, row.Expires = k.ID, k.Expires
	if k.Expires.IsZero() && u.Route.Uploads.Lasts > 0 {
		row.Expires = u.began.Add(u.Route.Uploads.Lasts)
	}
	if err := u.Ledger.Uploads.Keep(context.WithoutCancel(ctx), row); err != nil {
		return err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.ids[row.Sum] = row.File
	return nil
}

func (u *uploading) send(ctx context.Context, f inlay.Named, claimed store.Upload) (provider.Kept, error) {
	open := func() (io.ReadCloser, error) { return u.Planner.OpenShown(ctx, u.Run, f.Sum) }
	r, err := open()
	if err != nil {
		return provider.Kept{}, err
	}
	head := make([]byte, 512)
	n, err := io.ReadFull(r, head)
	if err = errors.Join(ignoreEnd(err), r.Close()); err != nil {
		return provider.Kept{}, err
	}
	_, kind := media.Sniff(head[:n])
	return u.Access.Files.Keep(ctx, provider.Upload{Name: uploadName(claimed), Kind: f.Kind, Type: kind, Lasts: u.Route.Uploads.Lasts,
		Body: provider.Source{Size: f.Size, SHA256: hex.EncodeToString(f.Sum[:]), Open: open}})
}

func ignoreEnd(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// AboutFile reports whether a fault may be about a file that a request names.
func AboutFile(f *assay.Fault) bool {
	return f != nil && strings.Contains(strings.ToLower(f.Code+" "+f.Message), "file")
}

// Gone reports whether files that requests name are not at the provider any more, and forgets them: the next who needs them uploads them.
func Gone(ctx context.Context, w *Work, files []inlay.Named) (bool, error) {
	have, err := w.Ledger.Uploads.Of(ctx, accountOf(w), sumsOf(files))
	if err != nil {
		return false, err
	}
	missing := map[string]bool{} // ids of those that are not seen there
	for _, row := range have {
		missing[row.File] = true
	}
	for f, err := range w.Access.Files.Kept(ctx) {
		if err != nil {
			return false, err
		}
		delete(missing, f.ID)
	}
	gone := false
	for _, f := range files {
		row := have[f.Sum]
		if row.File != "" && !missing[row.File] {
			continue
		}
		gone = true
		if row.File != "" {
			if err := w.Ledger.Uploads.Drop(ctx, row); err != nil {
				return false, err
			}
		}
	}
	return gone, nil
}

// Forget deletes the files of an account that the ledger knows, and returns how many. What was sent by calls that were lost is looked for.
func Forget(ctx context.Context, c *engine.Config, access engine.Access) (n int, err error) {
	w := &Work{Config: c, Access: access}
	for last := (assay.Sum{}); ; {
		have, err := c.Ledger.Uploads.After(ctx, accountOf(w), last)
		if err != nil || len(have) == 0 {
			return n, err
		}
		last = have[len(have)-1].Sum
		some, err := forget(ctx, w, have)
		if n += some; err != nil {
			return n, err
		}
	}
}

func forget(ctx context.Context, w *Work, have []store.Upload) (n int, err error) {
	var lost []assay.Sum
	for _, row := range have {
		if row.File == "" && !row.Until.After(w.Clock.Now()) {
			lost = append(lost, row.Sum)
		}
	}
	var there map[string]provider.Kept
	if len(lost) > 0 {
		if there, err = listed(ctx, w, lost); err != nil {
			return 0, err
		}
	}
	for _, row := range have {
		if row.File == "" && row.Until.After(w.Clock.Now()) {
			continue
		}
		id := row.File
		if id == "" {
			id = there[uploadName(row)].ID
		}
		if id != "" {
			if err := w.Access.Files.Forget(ctx, id); err != nil {
				return n, err
			}
			n++
		}
		if err := w.Ledger.Uploads.Drop(ctx, row); err != nil {
			return n, err
		}
	}
	return n, nil
}
