package snapshot

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"assay/internal/keep/store"
	"assay/internal/keep/store/read"
	"assay/internal/study"
	"assay/internal/study/declare"
	"assay/internal/study/studyfile"
)

// Parts about what a study declares: when it did, and the study as it was locked.
const (
	declaredPart = "declared"
	lookedPart   = "looked"
	lockPart     = "lock"
)

// Locked is a study as it was locked: all that it takes to find out later what was changed.
type Locked struct {
	declare.Lock
	File     string            `json:"file"`
	Texts    map[string]string `json:"texts"` // the study and what it loads
	Profile  string            `json:"profile,omitempty"`
	Set      []string          `json:"set,omitempty"`
	Inputs   map[string]string `json:"inputs"` // digests of items, by input, and of imported rows
	Declared []declare.Entry   `json:"declared"`
	Replaces []declare.Lock    `json:"replaces,omitempty"` // locks before this one
}

// Study reads the study of a lock. The shape of imported rows is that of the study as it is now.
func (l *Locked) Study(now *study.Study) (*study.Study, error) {
	imported := map[string]study.Imported{}
	for i := range now.Stages {
		if st := &now.Stages[i]; st.Taken != nil {
			imported[st.Name] = *st.Taken
		}
	}
	st, problems := studyfile.Read(textFS(l.Texts), l.File, studyfile.Options{Profile: l.Profile, Set: l.Set, Imported: imported})
	if st == nil || len(problems.Errors()) > 0 {
		return nil, problems.Errors()
	}
	return st, nil
}

// textFS is texts by name as a file system.
type textFS map[string]string

func (t textFS) Open(name string) (fs.File, error) {
	text, there := t[name]
	if !there {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &partFile{Reader: bytes.NewReader([]byte(text)), name: name}, nil
}

// Looked returns what was looked at before more items were asked, oldest first.
func (s *Store) Looked(ctx context.Context, run store.Run) (out []declare.Look, err error) {
	if _, err = s.decode(ctx, run.No, lookedPart, &out); err != nil {
		return nil, fmt.Errorf("read what was looked at in run %s: %w", run.ID, err)
	}
	return out, nil
}

// Plan returns when the study of a run declared what, and whether it was locked.
func (s *Store) Plan(ctx context.Context, run store.Run) (*declare.Plan, error) {
	p := &declare.Plan{}
	var err error
	if p.Known, err = s.decode(ctx, run.No, declaredPart, &p.Entries); err != nil {
		return nil, fmt.Errorf("read what run %s declares: %w", run.ID, err)
	}
	if lock, err := s.Locked(ctx, run); err != nil {
		return nil, err
	} else if lock != nil {
		p.Lock = &lock.Lock
	}
	return p, nil
}

// Locked returns the lock that a run was begun under, with what was changed since; nil: there was none.
func (s *Store) Locked(ctx context.Context, run store.Run) (*Locked, error) {
	l := &Locked{}
	there, err := s.decode(ctx, run.No, lockPart, l)
	if err != nil {
		return nil, fmt.Errorf("read the lock of run %s: %w", run.ID, err)
	}
	if !there {
		return nil, nil
	}
	return l, nil
}

// Before returns what runs have declared whose answers are taken over, newest first, and how many verdicts they hold.
func (s *Store) Before(ctx context.Context, donors []string) (was []declare.Entry, verdicts int64, last time.Time, err error) {
	for i, id := range donors {
		run, err := s.Reader.FindRun(ctx, id, "")
		if errors.Is(err, store.ErrNotFound) {
			continue // there is nothing to take over
		}
		if err != nil {
			return nil, 0, last, err
		}
		n, err := read.CountVerdicts(ctx, s.Reader, run.No)
		if err != nil {
			return nil, 0, last, err
		}
		verdicts = max(verdicts, n)
		if i > 0 {
			continue
		}
		plan, err := s.Plan(ctx, run)
		if err != nil {
			return nil, 0, last, err
		}
		was, last = plan.Entries, run.Created
	}
	return was, verdicts, last, nil
}

// keepDeclared writes when the study of a new run declared what: in the lock, in the runs whose answers it takes over, or now.
func (s *Store) keepDeclared(ctx context.Context, run store.Run, b Beginning) error {
	was, verdicts, last, err := s.Before(ctx, b.Settings.ReuseRuns)
	if err != nil {
		return err
	}
	switch l := b.Locked; {
	case l != nil && len(b.Settings.ReuseRuns) == 0: // verdicts of earlier runs are not its data
		was = declare.Track(nil, declare.Says(l.Declared), declare.Moment{At: l.At})
	case l != nil && l.At.After(last):
		was = l.Declared
	}
	now := declare.Moment{At: run.Created, Verdicts: verdicts}
	if err := s.putJSON(ctx, run.No, declaredPart, declare.Track(was, b.Input.Study.Declared(), now)); err != nil {
		return err
	}
	if len(b.Looked) > 0 {
		if err := s.putJSON(ctx, run.No, lookedPart, b.Looked); err != nil {
			return err
		}
	}
	if b.Locked == nil {
		return nil
	}
	return s.putJSON(ctx, run.No, lockPart, b.Locked)
}

func (s *Store) putJSON(ctx context.Context, run int64, part string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return s.Runs.PutPart(ctx, run, part, bytes.NewReader(text))
}

// reviseDeclared adds to a revision what its study declares from now on.
func (s *Store) reviseDeclared(ctx context.Context, r Revision, out *store.Revision) error {
	plan, err := s.Plan(ctx, r.Run)
	if err != nil {
		return err
	}
	if plan.Known {
		n, err := read.CountVerdicts(ctx, s.Reader, r.Run.No)
		if err != nil {
			return err
		}
		now := declare.Moment{At: r.Now, Verdicts: n}
		if out.Parts[declaredPart], err = json.Marshal(declare.Track(plan.Entries, r.Input.Study.Declared(), now)); err != nil {
			return err
		}
	}
	if r.Lock != nil {
		out.Parts[lockPart], err = json.Marshal(r.Lock)
	}
	return err
}
