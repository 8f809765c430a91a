package driving

import (
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"assay/internal/assay"
	"assay/internal/send/batchfile"
	"assay/internal/show/cli/shell"
	"assay/internal/show/export"
	"assay/internal/study/catalog"
)

// from names the files that are read: a folder, one file, or the results of batches.
func (f importFlags) from(w *shell.World, names []string) (export.From, error) {
	out := export.From{Run: f.run, Lane: f.lane}
	if f.format == batchResults {
		return out, f.batch(w, names, &out)
	}
	if len(names) > 1 {
		return out, shell.Usage("one after the other, each with its own --out", "--format %s reads one folder or one file, not %d",
			f.format, len(names))
	}
	if f.requests != "" || f.provider != "" {
		return out, shell.Usage("leave them out", "--requests and --provider are for --format %s", batchResults)
	}
	if !w.Disk.IsFile(names[0]) {
		if len(f.columns) > 0 {
			return out, shell.Usage("name the file: "+filepath.Join(names[0], "answers."+f.format),
				"--columns is for one file, and %s is a folder", names[0])
		}
		out.Files = w.Disk.Folder(names[0])
		return out, nil
	}
	out.Files, out.File = w.Disk.Folder(filepath.Dir(names[0])), filepath.Base(names[0])
	var err error
	out.Columns, err = columnsOf(f.columns)
	return out, err
}

// batchResults is the format of results as providers write them.
const batchResults = "batch"

// columnsOf reads OURS=THEIRS.
func columnsOf(pairs []string) (map[string]string, error) {
	columns := map[string]string{}
	for _, pair := range pairs {
		ours, theirs, ok := strings.Cut(pair, "=")
		if ours, theirs = strings.TrimSpace(ours), strings.TrimSpace(theirs); !ok || ours == "" || theirs == "" {
			return nil, shell.Usage("such as --columns item=custom_id,text=answer", "--columns: %q is not OURS=THEIRS", pair)
		}
		if was, twice := columns[ours]; twice {
			return nil, shell.Usage("name it once", "--columns: %s is both %q and %q", ours, was, theirs)
		}
		columns[ours] = theirs
	}
	return columns, nil
}

// batch names the files of results, those of a folder by name, and what was sent.
func (f importFlags) batch(w *shell.World, names []string, out *export.From) error {
	if len(f.columns) > 0 {
		return shell.Usage("leave it out", "--columns is for tables: results of batches have their own fields")
	}
	if f.run != "" {
		return shell.Usage("leave it out", "--run is for tables that hold several runs")
	}
	if f.provider != "" {
		v, ok := catalog.Default().Vendor(batchfile.ProviderName(catalog.Default(), f.provider))
		if !ok {
			return shell.Usage("assay list models lists them", "no provider is called %q", f.provider)
		}
		out.Vendor = &v
	}
	for _, name := range names {
		if !w.Disk.IsFolder(name) {
			out.Sources = append(out.Sources, fileOf(w, name))
			continue
		}
		entries, err := fs.ReadDir(w.Disk.Folder("."), name)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if e.Type().IsRegular() && filepath.Ext(e.Name()) == ".jsonl" {
				out.Sources = append(out.Sources, fileOf(w, assay.CleanPath(name+"/"+e.Name())))
			}
		}
	}
	if f.requests != "" {
		if !w.Disk.IsFile(f.requests) {
			return shell.Usage("the file that was sent to the provider", "--requests: %s is no file", f.requests)
		}
		out.Requests = new(fileOf(w, f.requests))
	}
	return nil
}

func fileOf(w *shell.World, name string) export.Source {
	return export.Source{Name: name, Open: func() (io.ReadCloser, error) { return w.Disk.Open(name) }}
}
