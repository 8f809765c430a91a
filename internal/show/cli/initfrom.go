package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"assay/internal/assay"
	"assay/internal/show/cli/shell"
	"assay/internal/study/catalog"
	"assay/internal/study/convert"
	"assay/internal/study/inputs"
)

// writeConverted writes the study that a configuration of another program makes.
func writeConverted(ctx context.Context, w *shell.World, dir, from string) error {
	study := filepath.Join(dir, "study.yaml")
	if err := maybeWritten(w, dir, study); err != nil {
		return err
	}
	text, err := fs.ReadFile(w.Disk.Folder("."), from)
	if err != nil {
		return shell.Usage("", "read %s: %s", from, assay.FileReason(err))
	}
	d, err := convert.Read(text,
		convert.World{Catalog: catalog.Default(), Today: catalog.DateOf(w.Now()), Find: func(name string) (convert.Found, bool) {
			return findFrom(ctx, w, name, dir, from)
		}, Generations: func(dirs []string) []string { return modelsIn(ctx, w, generationsAt(w, dirs, from)) }})
	if errors.Is(err, convert.ErrUnknown) {
		return shell.Usage("assay init --example NAME writes a study to start from", "%s cannot be made a study: %s", from, err)
	}
	if err != nil {
		return shell.Usage("mend the file, or write the study by hand: docs/coming-from.md", "%s cannot be made a study: %s", from, err)
	}
	if len(d.Generations) > 0 {
		if err := writeGenerations(ctx, w, dir, generationsAt(w, d.Generations, from)); err != nil {
			return err
		}
	}
	if err := w.Disk.WriteNew(study, d.YAML); err != nil {
		return fmt.Errorf("write the study: %w", err)
	}
	for _, left := range d.Left {
		fmt.Fprintln(w.Stderr, "not carried over:", left)
	}
	fmt.Fprintf(w.Stdout, "wrote %s; %s\n", study, carried(len(d.Left)))
	_, err = fmt.Fprintf(w.Stdout, "next: assay check %s\n", study)
	return err
}

// carried returns how much of a configuration is missing in the study.
func carried(left int) string {
	switch left {
	case 0:
		return "everything was carried over"
	case 1:
		return "1 thing was not carried over, and stands in it as a comment"
	}
	return assay.Thousands(int64(left)) + " things were not carried over, and stand in it as comments"
}

// findFrom looks for what a configuration names: from the folder one works in, then beside the configuration.
func findFrom(ctx context.Context, w *shell.World, name, dir, from string) (convert.Found, bool) {
	if name == "" {
		return convert.Found{}, false
	}
	for _, place := range places(name, from) {
		if !w.Disk.Exists(place) {
			continue
		}
		file := place
		if w.Disk.IsFolder(place) {
			file += "/"
		}
		source := inputs.Open(w.Disk.Folder("."), map[string]inputs.Spec{"rows": {File: file}})
		fields, _, problems := source.Fields("rows")
		if len(problems) > 0 {
			break
		}
		found := convert.Found{Fields: fields}
		for it, err := range source.Items(ctx, "rows") {
			if err == nil {
				found.First = it.ID
			}
			break
		}
		found.Path = fromStudy(w, dir, file)
		return found, true
	}
	return convert.Found{Path: fromStudy(w, dir, name)}, false
}

// places returns where something that a configuration names may be: from the folder one works in, then beside the configuration.
func places(name, from string) []string {
	if filepath.IsAbs(name) {
		return []string{name}
	}
	return []string{name, filepath.Join(filepath.Dir(from), name)}
}

// fromStudy returns a name as a study in a folder writes it; that of a folder ends in a slash.
func fromStudy(w *shell.World, dir, name string) string {
	path := w.Disk.Path(name)
	if assay.IsRemote(path) {
		return path
	}
	if near, err := filepath.Rel(w.Disk.Path(dir), path); err == nil {
		path = filepath.ToSlash(near)
	}
	if strings.HasSuffix(name, "/") && !strings.HasSuffix(path, "/") {
		path += "/"
	}
	return path
}
