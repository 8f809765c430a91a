package inputs

import (
	"errors"
	"io/fs"
	"iter"
	"path"
	"strings"

	"assay/internal/assay"
)

// file is one file of an input.
type file struct {
	path   string // in the file system, and in messages
	stem   string // the made id of a file that is one item, and the beginning of the made ids of its rows
	format format
	among  bool // one of a folder: the made ids of its rows carry the stem
}

// format is a way to read a file.
type format string

const (
	formatLines   format = "lines" // one item a line
	formatText    format = "text"  // one item a file
	formatCSV     format = "csv"
	formatTSV     format = "tsv"
	formatJSONL   format = "jsonl"
	formatJSON    format = "json"
	formatParquet format = "parquet"
)

const knownFormats = "lines, text, csv, tsv, jsonl, json or parquet"

// formatNamed reads a `format:` or a suffix. A .txt alone is a list of lines; one of a folder is one item.
func formatNamed(name string, among bool) (format, bool) {
	switch f := format(strings.ToLower(name)); f {
	case formatLines, formatText, formatCSV, formatTSV, formatJSONL, formatJSON, formatParquet:
		return f, true
	case "ndjson":
		return formatJSONL, true
	case "md":
		return formatText, true
	case "txt":
		if among {
			return formatText, true
		}
		return formatLines, true
	}
	return "", false
}

// files yields the files of a spec, those of a folder in the order of their paths.
func (s *Source) files(spec Spec) iter.Seq2[file, error] {
	return func(yield func(file, error) bool) {
		root := cleanPath(spec.File)
		info, err := fs.Stat(s.fsys, root)
		if err != nil {
			yield(file{}, openProblem(spec, err))
			return
		}
		if info.IsDir() {
			if whole, ok := info.(interface{ Choose() error }); ok && spec.Files == "" && whole.Choose() != nil {
				yield(file{}, openProblem(spec, whole.Choose()))
				return
			}
			s.folder(spec, root, yield)
			return
		}
		if spec.Files != "" {
			yield(file{}, problem(spec.At, "`file:` then names the folder", "`files:` goes with a folder, and %s is a file",
				quote(spec.File)))
			return
		}
		f, ok := formatNamed(formatName(spec, info.Name()), false)
		if !ok {
			hint, what := "say which with `format:`: "+knownFormats, "the suffix of %s names no known format"
			if suffix := strings.ToLower(path.Ext(info.Name())); spec.Format == "" &&
				(suffix == ".xlsx" || suffix == ".xls" || suffix == ".ods") {
				hint, what = "save the sheet as CSV UTF-8", "%s is a spreadsheet, which is not read"
			}
			yield(file{}, problem(spec.At, hint, what, quote(spec.File)))
			return
		}
		yield(file{path: root, stem: stem(info.Name()), format: f}, nil)
	}
}

func (s *Source) folder(spec Spec, root string, yield func(file, error) bool) {
	for entry, err := range s.walk(root, spec.Files) {
		if err != nil {
			if !yield(file{}, openProblem(spec, err)) {
				return
			}
			continue
		}
		if !entry.taken {
			continue
		}
		f, ok := formatNamed(formatName(spec, entry.rel), true)
		switch {
		case !ok && spec.Files == "":
			continue // the check warns
		case !ok:
			err = problem(assay.Place{File: cleanPath(root + "/" + entry.rel)}, "narrow `files:`, or say `format:`",
				"the suffix names no known format")
		}
		if !yield(file{path: cleanPath(root + "/" + entry.rel), stem: stem(entry.rel), format: f, among: true}, err) {
			return
		}
	}
}

// entry is one thing found in a folder.
type entry struct {
	rel    string // the path inside the folder
	folder bool
	taken  bool // it matches the glob
}

// walk goes through a folder in the order of paths. Without a glob it stays in the folder itself. Names that begin with
// a dot are passed over unless the glob begins so too.
func (s *Source) walk(root, glob string) iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		root := path.Clean(root)
		err := fs.WalkDir(s.fsys, root, func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if p == root {
				return nil
			}
			rel := strings.TrimPrefix(strings.TrimPrefix(p, root), "/")
			if root == "." {
				rel = p
			}
			isFolder := d.IsDir()
			if d.Type()&fs.ModeSymlink != 0 {
				info, err := fs.Stat(s.fsys, p)
				isFolder = err == nil && info.IsDir()
			}
			hidden := strings.HasPrefix(path.Base(rel), ".") && !strings.HasPrefix(path.Base("/"+glob), ".")
			taken := !isFolder && !hidden && matches(glob, rel)
			if !hidden && !yield(entry{rel, isFolder, taken}, nil) {
				return fs.SkipAll
			}
			if d.IsDir() && (hidden || glob == "") {
				return fs.SkipDir
			}
			return nil
		})
		if err != nil {
			yield(entry{}, err)
		}
	}
}

// matches reports whether a path fits a glob, in which ** matches any number of folders. The empty glob fits all.
func matches(glob, p string) bool {
	return glob == "" || matchParts(strings.Split(path.Clean(glob), "/"), strings.Split(p, "/"))
}

func matchParts(glob, parts []string) bool {
	for len(glob) > 0 && glob[0] != "**" {
		if len(parts) == 0 {
			return false
		}
		if ok, err := path.Match(glob[0], parts[0]); err != nil || !ok {
			return false
		}
		glob, parts = glob[1:], parts[1:]
	}
	if len(glob) == 0 {
		return len(parts) == 0
	}
	for len(glob) > 0 && glob[0] == "**" {
		glob = glob[1:]
	}
	if len(glob) == 0 {
		return len(parts) > 0
	}
	for i := range parts {
		if matchParts(glob, parts[i:]) {
			return true
		}
	}
	return false
}

func formatName(spec Spec, p string) string {
	if spec.Format != "" {
		return spec.Format
	}
	return strings.TrimPrefix(path.Ext(p), ".")
}

func openProblem(spec Spec, err error) error {
	name := spec.File
	if name == "" {
		name = spec.Files
	}
	if remote, ok := errors.AsType[assay.Problems](err); ok && len(remote) == 1 {
		return problem(spec.At, remote[0].Hint, "%s", remote[0].What)
	}
	switch {
	case !fs.ValidPath(cleanPath(name)) && !errors.Is(err, fs.ErrNotExist):
		return problem(spec.At, "name a path inside the study's folder", "%s cannot be opened from here", quote(name))
	case errors.Is(err, fs.ErrNotExist) && strings.Contains(name, `\`):
		return problem(spec.At, "write / between folders", "%s does not exist", quote(name))
	case errors.Is(err, fs.ErrNotExist) && strings.Contains(name, "://"):
		return problem(spec.At, "download it, and name the file; datasets are named hf://OWNER/NAME@REVISION/FILE",
			"%s is an address, which is not read", quote(name))
	case errors.Is(err, fs.ErrNotExist):
		return problem(spec.At, "paths count from the study's folder", "%s does not exist", quote(name))
	}
	return problem(spec.At, "", "open %s: %v", quote(name), err)
}

// cleanPath returns a path as a study writes it, in the form a file system takes.
func cleanPath(p string) string { return assay.CleanPath(p) }

func baseName(p string) string { return path.Base(cleanPath(p)) }

// stem returns a path without its suffix; a name that is all suffix stays whole.
func stem(p string) string {
	s := strings.TrimSuffix(p, path.Ext(p))
	if s == "" || strings.HasSuffix(s, "/") {
		return p
	}
	return s
}
