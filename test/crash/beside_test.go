package crash

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
)

// TestAKillBesideAnotherProcessCostsNothing lets two processes drive one run and kills one of them: the other takes its
// work over, and what both did is done once.
func TestAKillBesideAnotherProcessCostsNothing(t *testing.T) {
	t.Parallel()
	kills := []Point{
		{"ledger stage", 1, After},
		{"ledger intend", 1, After},
		{"POST /openai/v1/batches", 1, Accepted},
		{"POST /anthropic/v1/messages/batches", 1, Download},
		{"ledger launched", 1, Before},
		{"ledger fetched", 1, After},
		{"ledger settle", 1, After},
		{"POST /openai/v1/responses", 1, Accepted},
		{"ledger finish", 2, Before},
		{"ledger rest run", 2, Before},
	}
	dirs := t.TempDir()
	n := len(kills) // the two databases by turns
	if *points == 0 {
		n *= 2 // each kill on both
	}
	each(n, func(i int) {
		db, study := "", "turns"
		if (i+i/len(kills))%2 == 1 {
			db, study = server.Database(t), "single"
		}
		at := kills[i%len(kills)]
		if err := killBeside(t.Context(), study, at, filepath.Join(dirs, fmt.Sprint(i)), db); err != nil {
			t.Errorf("%s, killed at %s beside another: %v", study, at, err)
		}
	})
}

func killBeside(ctx context.Context, study string, at Point, dir, db string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	s, err := open(dir, study, db)
	if err != nil {
		return err
	}
	defer s.close()
	if e, err := s.assay(ctx, &Point{"ledger open run", 1, After}, "run", "study.yaml", "--yes"); err != nil || !e.reached {
		return errors.Join(err, fmt.Errorf("the run was not begun: %s", e))
	}
	other, err := s.start(ctx, nil, 0, "resume")
	if err != nil {
		return err
	}
	// Whether it comes to its kill depends on who is faster: the end has to be the same.
	e, err := s.assay(ctx, &at, "resume")
	if err == nil && !e.reached && e.code != 0 {
		err = errors.New(e.String())
	}
	o, oerr := other.wait()
	if oerr == nil && o.code != 0 {
		oerr = fmt.Errorf("the other: %s", o)
	}
	if err := errors.Join(err, oerr); err != nil {
		return err
	}
	return errors.Join(s.sound(ctx), s.paid(ctx, 1, liveCalls(e.passed)+liveCalls(o.passed)))
}
