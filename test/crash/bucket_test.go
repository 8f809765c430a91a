package crash

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"assay/internal/keep/artifacts"
	"assay/internal/keep/artifacts/artifactstest"
	"assay/internal/keep/objects"
)

// shareBucket has all processes keep their artifacts in one bucket.
func (s *session) shareBucket() {
	s.bucket = artifactstest.Start()
	s.env["ASSAY_ARTIFACTS"] = s.bucket.S3("runs")
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} {
		s.env[name] = artifactstest.Env(name)
	}
}

// home returns the home of a worker: one of its own where no disk is shared.
func (s *session) home(name string) string {
	if s.bucket == nil {
		name = "assay-data"
	}
	return filepath.Join(s.dir, name)
}

// TestAFileThatWasWholeBeforeTheKillIsKnownWithItsSum kills a process that has fetched results and has not recorded that.
func TestAFileThatWasWholeBeforeTheKillIsKnownWithItsSum(t *testing.T) {
	t.Parallel()
	for _, bucket := range []bool{false, true} {
		s := newScene(t, "single")
		if bucket {
			s.shareBucket()
		}
		s.killedAt(Point{"ledger add artifact", 1, Before})
		s.exits(0, []string{"resume"})
		s.whole()
		s.ok(s.artifactsAreWhole(t.Context()))
	}
}

// artifactsAreWhole opens everything that the ledger names.
func (s *session) artifactsAreWhole(ctx context.Context) error {
	place, err := s.place()
	if err != nil {
		return err
	}
	defer place.Close()
	rows, err := s.rows(ctx, `SELECT r.id, a.name, a.kind, a.bytes, a.sha256 FROM artifacts a JOIN runs r ON r.no = a.run_no`)
	if err != nil {
		return err
	}
	var all error
	for _, row := range rows {
		f := strings.Fields(row)
		for len(f) < 5 { // no sum is known of it
			f = append(f, "")
		}
		all = errors.Join(all, wholeArtifact(ctx, place, f[0], f[1], f[2], f[3], f[4]))
	}
	return all
}

func (s *session) place() (artifacts.Place, error) {
	if s.bucket == nil {
		return artifacts.Open(filepath.Join(s.dir, "assay-data", "runs"))
	}
	store, prefix, err := objects.Open(s.bucket.S3("runs"), artifactstest.Env)
	if err != nil {
		return nil, err
	}
	return artifacts.NewBucket(store, prefix, artifacts.Cache{})
}

func wholeArtifact(ctx context.Context, p artifacts.Place, run, name, kind, bytes, sum string) error {
	file, err := p.Open(ctx, run, name)
	if err != nil {
		return fmt.Errorf("the ledger names %s: %w", name, err)
	}
	defer file.Close()
	h := sha256.New()
	n, err := io.Copy(h, file)
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	if kind == "live" {
		return nil // it grows after its entry
	}
	if strconv.FormatInt(n, 10) != bytes || sum != hex.EncodeToString(h.Sum(nil)) {
		return fmt.Errorf("%s is not what the ledger says: %d bytes, want %s with the sum %q", name, n, bytes, sum)
	}
	return nil
}
