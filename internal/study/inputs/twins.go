package inputs

import (
	"context"
	"hash/maphash"
	"strings"

	"assay/internal/assay"
)

// twins finds ids that are equal or look equal without holding them: one hash for each id, and a second reading for
// those whose hashes met.
type twins struct {
	seed   maphash.Seed
	seen   hashes
	met    map[uint64][]sighting
	unheld int // meetings beyond those that the second reading looks at
}

// sighting is one id with its place.
type sighting struct {
	id    string
	place assay.Place
}

// maxMet bounds what the second reading holds.
const maxMet = 1000

func newTwins() *twins {
	return &twins{seed: maphash.MakeSeed(), met: map[uint64][]sighting{}}
}

// hash is the same for ids that differ only in case or in white space around them: file systems and people take such ids
// for one.
func (t *twins) hash(id string) uint64 { return maphash.String(t.seed, folded(id)) }

func folded(id string) string { return strings.ToLower(strings.TrimSpace(id)) }

func (t *twins) see(id string) {
	h := t.hash(id)
	if t.seen.add(h) {
		return
	}
	switch _, known := t.met[h]; {
	case known:
	case len(t.met) < maxMet:
		t.met[h] = nil
	default:
		t.unheld++
	}
}

// reportTwins reads the input again where hashes met, and reports which ids are equal.
func (s *Source) reportTwins(ctx context.Context, spec Spec, t *twins, f *findings) {
	if len(t.met) == 0 {
		return
	}
	for it, err := range s.stream(ctx, spec) {
		if err != nil {
			continue
		}
		h := t.hash(it.ID)
		before, met := t.met[h]
		if !met {
			continue
		}
		if reportTwin(before, it, f) {
			t.met[h] = append(before, sighting{it.ID, it.Place})
		}
	}
	f.more += t.unheld
}

// reportTwin compares an id with those before it under the same hash. It reports whether the id is new among them.
func reportTwin(before []sighting, it assay.Item, f *findings) bool {
	for _, b := range before {
		if b.id == it.ID {
			f.problem(it.Place, "ids must differ", "the id %s also stands at %s", quote(it.ID), b.place)
			return false
		}
	}
	for _, b := range before {
		if folded(b.id) == folded(it.ID) {
			f.warn(it.Place, "", "the id %s differs from %s at %s only in case or outer white space", quote(it.ID), quote(b.id), b.place)
			break
		}
	}
	return true
}
