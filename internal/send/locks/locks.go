// Package locks keeps studies as they were locked before anything was sent, and finds out what was changed since.
package locks

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"assay/internal/keep/store/runs"
	"assay/internal/send/script/snapshot"
	"assay/internal/study"
	"assay/internal/study/declare"
	"assay/internal/study/edit"
	"assay/internal/study/plan"
)

// Book keeps the locks of a ledger, one for each study in its folder.
type Book struct {
	Runs      *runs.Store
	Snapshots *snapshot.Store
}

// Study is a study in its folder, as it is now.
type Study struct {
	Input    *plan.Input
	Folder   string
	Files    fs.FS             // of the folder
	Digest   string            // of the study, its texts and its items
	Settings snapshot.Settings // file, profile and changes that it was read with; lanes, stages and limit of the run that is wanted
}

// Lock writes a study with its texts, the digests of its items and what it declares into the ledger. It returns the lock and the number of
// verdicts that runs hold whose answers the next run takes over. A lock of the same study stays as it is: its time counts.
func (b Book) Lock(ctx context.Context, s Study, donors []string, now time.Time) (declare.Lock, int64, error) {
	was, err := b.kept(ctx, s)
	if err != nil {
		return declare.Lock{}, 0, err
	}
	before, verdicts, _, err := b.Snapshots.Before(ctx, donors)
	if err != nil {
		return declare.Lock{}, 0, err
	}
	if was != nil && was.Digest == s.Digest && was.Profile == s.Settings.Profile && slices.Equal(was.Set, s.Settings.Set) {
		return was.Lock, verdicts, nil
	}
	l, err := s.lock(ctx, now)
	if err != nil {
		return declare.Lock{}, 0, err
	}
	if was != nil {
		l.Replaces = append(was.Replaces, was.Lock)
	}
	l.Declared = declare.Track(before, s.Input.Study.Declared(), declare.Moment{At: l.At, Verdicts: verdicts})
	text, err := json.Marshal(l)
	if err != nil {
		return declare.Lock{}, 0, err
	}
	_, err = b.Runs.Put(ctx, s.name(), string(text))
	return l.Lock, verdicts, err
}

// lock returns a study as it is locked now.
func (s Study) lock(ctx context.Context, now time.Time) (*snapshot.Locked, error) {
	l := &snapshot.Locked{
		Lock: declare.Lock{At: now.UTC(), Digest: s.Digest, Changed: []string{}},
		File: s.Settings.File, Profile: s.Settings.Profile, Set: s.Settings.Set, Texts: map[string]string{},
	}
	for _, name := range append([]string{l.File}, s.Input.Study.Loaded...) {
		text, err := fs.ReadFile(s.Files, name)
		if err != nil {
			return nil, fmt.Errorf("lock %s: %w", name, err)
		}
		l.Texts[name] = string(text)
	}
	var err error
	l.Inputs, err = digests(ctx, s.Input)
	return l, err
}

// digests returns the digests of a study's items, by input, and of the rows that it imports.
func digests(ctx context.Context, in *plan.Input) (map[string]string, error) {
	names := in.Study.Inputs.Names()
	for i := range in.Study.Stages {
		if st := &in.Study.Stages[i]; st.Import != nil {
			names = append(names, study.ImportRows(st.Name))
		}
	}
	out := map[string]string{}
	for _, name := range names {
		digest, err := in.Items.Digest(ctx, name)
		if err != nil {
			return nil, err
		}
		out[name] = digest
	}
	return out, nil
}

// Of returns the lock of a study with what was changed since; nil: it was not locked.
func (b Book) Of(ctx context.Context, s Study) (*snapshot.Locked, error) {
	l, err := b.kept(ctx, s)
	if l == nil || err != nil {
		return nil, err
	}
	return l, s.Compare(ctx, l)
}

// Compare notes in a lock what the study differs in by now, and what of it alone is wanted.
func (s Study) Compare(ctx context.Context, l *snapshot.Locked) error {
	l.Changed = []string{}
	was, err := l.Study(s.Input.Study)
	if err != nil { // a later program has stricter rules
		l.Changed = append(l.Changed, string(edit.Unread))
	} else {
		for _, c := range edit.Compare(was, s.Input.Study) {
			l.Changed = append(l.Changed, c.String())
		}
	}
	is, err := digests(ctx, s.Input)
	if err != nil {
		return err
	}
	differs := func(name string) bool { had, there := l.Inputs[name]; return there && had != is[name] }
	for _, e := range s.Input.Study.Inputs {
		if differs(e.Name) {
			l.Changed = append(l.Changed, edit.Change{Section: edit.Inputs, Name: e.Name, Key: edit.Items}.String())
		}
	}
	for i := range s.Input.Study.Stages {
		if st := &s.Input.Study.Stages[i]; st.Import != nil && differs(study.ImportRows(st.Name)) {
			l.Changed = append(l.Changed, edit.Change{Section: edit.Stages, Name: st.Name, Key: "rows"}.String())
		}
	}
	if n := s.Settings.Limit; n > 0 {
		l.Changed = append(l.Changed, fmt.Sprintf("the first %d items alone", n))
	}
	for what, names := range map[string][]string{"lanes ": s.Settings.Lanes, "stages ": s.Settings.Stages} {
		if len(names) > 0 {
			l.Changed = append(l.Changed, what+strings.Join(names, ", ")+" alone")
		}
	}
	slices.Sort(l.Changed)
	return nil
}

// kept returns the newest lock of a study in its folder; nil: there is none.
func (b Book) kept(ctx context.Context, s Study) (*snapshot.Locked, error) {
	text, err := b.Snapshots.Reader.Meta(ctx, s.name())
	if err != nil || text == "" {
		return nil, err
	}
	l := &snapshot.Locked{}
	if err := json.Unmarshal([]byte(text), l); err != nil {
		return nil, fmt.Errorf("read the lock of study %s: %w", s.Input.Study.Study, err)
	}
	return l, nil
}

// name returns the name under which the ledger keeps the lock of a study.
func (s Study) name() string { return "lock " + s.Input.Study.Study + " " + s.Folder }
