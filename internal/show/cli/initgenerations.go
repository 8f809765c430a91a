package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"assay/internal/assay"
	"assay/internal/find/results/rows"
	"assay/internal/show/cli/shell"
	"assay/internal/show/export"
	"assay/internal/show/export/speceval"
	"assay/internal/show/export/table"
	"assay/internal/study/convert"
)

// generationsAt returns the folders of generations that are there.
func generationsAt(w *shell.World, dirs []string, from string) []string {
	var out []string
	for _, dir := range dirs {
		for _, place := range places(dir, from) {
			if w.Disk.IsFolder(place) {
				out = append(out, filepath.ToSlash(filepath.Clean(place)))
				break
			}
		}
	}
	return out
}

// modelsIn returns the models that have answers in folders of generations.
func modelsIn(ctx context.Context, w *shell.World, dirs []string) []string {
	var models []string
	nothing := func(*rows.Item) error { return nil }
	answered := func(a *rows.Answer) error {
		if !slices.Contains(models, a.Lane) {
			models = append(models, a.Lane)
		}
		return nil
	}
	if err := readGenerations(ctx, w, dirs, nothing, answered, func(assay.Problem) {}); err != nil {
		return nil
	}
	slices.Sort(models)
	return models
}

// readGenerations hands on the inputs and the answers in folders of generations.
func readGenerations(ctx context.Context, w *shell.World, dirs []string, item func(*rows.Item) error, answer func(*rows.Answer) error,
	bad table.Report) error {
	if len(dirs) == 0 {
		return export.ErrNothing
	}
	sink := &export.Sink{Item: item, Answer: answer, Verdict: func(*rows.Verdict) error { return nil }, Bad: bad}
	return speceval.Read(ctx, export.From{Files: w.Disk.Folder("."), Folders: dirs}, sink)
}

// writeGenerations writes the inputs and the answers in folders of generations beside a study.
func writeGenerations(ctx context.Context, w *shell.World, dir string, from []string) error {
	var files [2]*os.File
	for i, name := range []string{convert.ItemsFile, convert.AnswersFile} {
		f, err := w.Disk.Create(filepath.Join(dir, name), os.O_EXCL)
		if err != nil {
			return shell.Usage("choose another folder", "write %s: %s", filepath.Join(dir, name), assay.FileReason(err))
		}
		defer f.Close()
		files[i] = f
	}
	items, answers, n := json.NewEncoder(files[0]), json.NewEncoder(files[1]), 0
	err := readGenerations(ctx, w, from, func(it *rows.Item) error {
		fields := map[string]any{}
		if err := json.Unmarshal([]byte(it.Fields), &fields); err != nil {
			return err
		}
		fields["id"] = it.Item
		return items.Encode(fields)
	}, func(a *rows.Answer) error {
		n++
		line := map[string]string{"item": a.Item, "lane": a.Lane, "text": a.Text}
		if a.Ending != "" {
			line["ending"] = a.Ending
		}
		return answers.Encode(line)
	}, func(p assay.Problem) { fmt.Fprintln(w.Stderr, p) })
	if err := errors.Join(err, files[0].Close(), files[1].Close()); err != nil {
		return fmt.Errorf("write the generations: %w", err)
	}
	_, err = fmt.Fprintf(w.Stdout, "%s of %s are in %s\n", assay.Count(n, "answer"), assay.Count(len(from), "folder"),
		filepath.Join(dir, convert.AnswersFile))
	return err
}
