package cli

import (
	"runtime/debug"
	"testing"

	"assay/internal/show/cli/shell"
)

func TestTheVersionNamesCommitAndDay(t *testing.T) {
	t.Parallel()
	info := &debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}}
	if got := shell.VersionOf(info); got != "v1.2.3" {
		t.Errorf("without a commit: %s", got)
	}
	info.Settings = []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef0123456789abcdef01234567"},
		{Key: "vcs.time", Value: "2026-11-16T09:00:00Z"}}
	if got := shell.VersionOf(info); got != "v1.2.3 (commit 0123456789ab, 2026-11-16)" {
		t.Errorf("with one: %s", got)
	}
}
