package artifacts_test

import (
	"testing"

	"assay/internal/keep/artifacts"
	"assay/internal/keep/artifacts/artifactstest"
)

func TestAFolderKeepsTheContract(t *testing.T) {
	t.Parallel()
	artifactstest.Suite(t, func(t *testing.T) func() artifacts.Place {
		dir := t.TempDir()
		return func() artifacts.Place {
			f, err := artifacts.Open(dir)
			ok(t, err)
			t.Cleanup(func() { f.Close() })
			return f
		}
	})
}
