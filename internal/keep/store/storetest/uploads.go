package storetest

import (
	"slices"
	"testing"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

// uploads: a file is sent by one at a time, once for each account, and again only when its time is over.
func uploads(t *testing.T, fresh Fresh) {
	b := newBench(t, fresh)
	u := store.Upload{Account: "key https://a", Provider: "p", Sum: assay.Sum{1}, Bytes: 7}
	now := b.clock.now()
	claim := func(what string, until, needed time.Time, want bool, calls, renewed int64) store.Upload {
		t.Helper()
		got, ok, err := b.s.Uploads.Claim(b.ctx, u, until, needed)
		b.ok(err)
		if ok != want || ok && (got.Calls != calls || got.Renewed != renewed || got.Bytes != 7 || got.Sum != u.Sum) {
			t.Errorf("%s: %v %+v", what, ok, got)
		}
		return got
	}
	claim("the first", now.Add(time.Minute), now, true, 1, 0)
	claim("while it is sent", now.Add(time.Minute), now, false, 0, 0)
	other := u
	other.Account = "another"
	if _, ok, err := b.s.Uploads.Claim(b.ctx, other, now.Add(time.Minute), now); err != nil || !ok {
		t.Errorf("another account: %v %v", ok, err)
	}
	b.clock.pass(2 * time.Minute)
	now = b.clock.now()
	claim("after a call that was lost", now.Add(time.Minute), now, true, 2, 0)
	kept := u
	kept.File, kept.Expires = "file_1", now.Add(time.Hour)
	b.ok(b.s.Uploads.Keep(b.ctx, kept))
	late := kept
	late.File = "file_2"
	b.ok(b.s.Uploads.Keep(b.ctx, late)) // the first one stays
	all, err := b.s.Uploads.Of(b.ctx, u.Account, []assay.Sum{{9}, u.Sum})
	b.ok(err)
	if got := all[u.Sum]; len(all) != 1 || got.File != "file_1" || !got.Usable(now.Add(time.Hour)) || got.Usable(now.Add(61*time.Minute)) {
		t.Errorf("%+v", all)
	}
	claim("while it is there", now.Add(time.Minute), now.Add(time.Hour), false, 0, 0)
	claim("when its time is over before", now.Add(time.Minute), now.Add(2*time.Hour), true, 1, 1)
	b.ok(b.s.Uploads.Drop(b.ctx, kept)) // of the time before: nothing is dropped
	claim("while it is sent anew", now.Add(time.Minute), now, false, 0, 0)
	b.ok(b.s.Uploads.Drop(b.ctx, u))
	claim("after a refusal", now.Add(time.Minute), now, true, 1, 0)
	needed, err := b.s.Uploads.Needed(b.ctx, "test")
	b.ok(err)
	if needed {
		t.Error("nothing is under way")
	}
	g := b.staged(store.Batch, 2)
	if needed, err = b.s.Uploads.Needed(b.ctx, g.Provider); err != nil || !needed {
		t.Errorf("a segment is staged: %v %v", needed, err)
	}
}

// manyUploads: of the files of an account those are read that are asked for, in as many questions as they need; all are listed in pages.
func manyUploads(t *testing.T, fresh Fresh) {
	b := newBench(t, fresh)
	now, account := b.clock.now(), "key https://a"
	var sums []assay.Sum
	for i := range 1203 {
		u := store.Upload{Account: account, Provider: "p", Sum: assay.Sum{byte(i >> 8), byte(i), 1}, Bytes: int64(i)}
		sums = append(sums, u.Sum)
		if _, ok, err := b.s.Uploads.Claim(b.ctx, u, now.Add(time.Minute), now); err != nil || !ok {
			t.Fatal(ok, err)
		}
	}
	for _, c := range []struct{ ask, want []assay.Sum }{
		{nil, nil}, {[]assay.Sum{{7, 7, 7}}, nil}, {sums[5:6], sums[5:6]}, {append(sums[100:900:900], assay.Sum{9, 9}), sums[100:900]},
		{sums, sums},
	} {
		got, err := b.s.Uploads.Of(b.ctx, account, c.ask)
		b.ok(err)
		for _, sum := range c.want {
			if got[sum].Sum != sum {
				t.Errorf("%v is not there", sum[:3])
			}
		}
		if len(got) != len(c.want) {
			t.Errorf("%d files asked for, %d found, want %d", len(c.ask), len(got), len(c.want))
		}
	}
	var listed []assay.Sum
	for last := (assay.Sum{}); ; {
		page, err := b.s.Uploads.After(b.ctx, account, last)
		b.ok(err)
		if len(page) == 0 {
			break
		}
		for _, u := range page {
			listed = append(listed, u.Sum)
		}
		last = page[len(page)-1].Sum
	}
	if !slices.Equal(listed, sums) {
		t.Errorf("%d files were listed, want %d", len(listed), len(sums))
	}
	for name, want := range map[string]bool{account: true, "another": false} {
		if any, err := b.s.Uploads.Any(b.ctx, name); err != nil || any != want {
			t.Errorf("account %s has files: %v %v", name, any, err)
		}
	}
}
