package results

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"assay/internal/keep/store"
	"assay/internal/send/script/snapshot"
	"assay/internal/show/report"
)

// Rerun returns the commands that go on with the study of a run, typed in a folder; empty: in any.
func (r *Reader) Rerun(run store.Run, dir string) (report.Rerun, error) {
	var s snapshot.Settings
	if err := json.Unmarshal([]byte(run.Settings), &s); err != nil {
		return report.Rerun{}, fmt.Errorf("read the settings of run %s: %w", run.ID, err)
	}
	if s.File == "" {
		return report.Rerun{}, nil
	}
	out := report.Rerun{Command: r.RerunWith(run, s, dir), File: filepath.Join(studyFrom(run.Folder, dir), s.File), Limit: s.Limit}
	if s.Limit > 0 {
		s.Limit = 0
		out.Whole = r.RerunWith(run, s, dir)
	}
	return out, nil
}

// RerunWith returns the command that runs a study with other settings than a run has.
func (r *Reader) RerunWith(run store.Run, s snapshot.Settings, dir string) string {
	s.File = filepath.Join(studyFrom(run.Folder, dir), s.File)
	return RunAgain(s, r.Rehearsal)
}

// studyFrom returns how a study's folder is called where commands are typed: not at all in the folder itself, and as a whole elsewhere.
func studyFrom(folder, dir string) string {
	if rel, err := filepath.Rel(dir, folder); err == nil && dir != "" && filepath.IsLocal(rel) {
		return rel
	}
	return folder
}

// RunAgain returns the command that runs the same study.
func RunAgain(s snapshot.Settings, rehearsal bool, flags ...string) string {
	ask := append([]string{"assay run", ShellWord(s.File)}, flags...)
	flag := func(name, value string) {
		if value != "" {
			ask = append(ask, "--"+name, ShellWord(value))
		}
	}
	flag("profile", s.Profile)
	for _, set := range s.Set {
		flag("set", set)
	}
	flag("lane", strings.Join(s.Lanes, ","))
	flag("stage", strings.Join(s.Stages, ","))
	if s.Limit > 0 {
		flag("limit", fmt.Sprint(s.Limit))
	}
	if rehearsal {
		ask = append(ask, "--rehearse")
	}
	return strings.Join(ask, " ")
}

// ShellWord quotes what a shell would take apart.
func ShellWord(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/=,:@+") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
