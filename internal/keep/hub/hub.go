// Package hub reads datasets of Hugging Face as files. A revision is resolved to a commit once and stays that commit in this home; files
// are kept by their SHA-256, so that what was read once is there without a network. Errors are of type assay.Problems, without places.
package hub

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"assay/internal/assay"
)

// Hub opens files of datasets. It may be used from several goroutines.
type Hub struct {
	Context context.Context                      // ends calls; fs.FS has no other way
	Dir     func() string                        // where datasets are kept; made when something is
	Env     func(variable string) (string, bool) // HF_TOKEN and HF_ENDPOINT
	HTTP    http.RoundTripper                    // how the server is reached
	Tell    func(file string, size int64)        // called before a large file is fetched; nil: it is not told

	mu      sync.Mutex
	commits map[string]Commit // by dataset and revision
	trees   map[string]*tree  // by dataset and commit
	whole   map[string]bool   // SHA-256 of kept files that were read and compared
}

// Commit is the commit that a revision of a dataset was resolved to.
type Commit struct {
	Dataset  string // OWNER/NAME
	Revision string // as it was written; empty: none was
	Commit   string // that is read
	Newest   string // of the revision, where that is another one by now; empty: it is not, or the server was not asked
}

// Open opens a file or a folder of a dataset. A dataset without a path is its one file of data, else a folder.
func (h *Hub) Open(text string) (fs.File, error) {
	if h == nil {
		return nil, problem("name a file", "%s: datasets are not read here", text)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	n, t, err := h.find(text)
	if err != nil {
		return nil, err
	}
	if n.path == "" {
		if data := t.data(); len(data) == 1 {
			n.path = data[0]
		}
	}
	if slices.Contains(t.Files, n.path) {
		return h.file(n, t)
	}
	inside := t.inside(n.path)
	if len(inside) == 0 {
		return nil, problem(choices(n, t), "%s has no file %q", n.at(n.revision, ""), n.path)
	}
	return &folder{dirInfo: dirInfo{entry{name: path.Base("/" + n.path)}, n, t}, left: inside}, nil
}

// Pinned returns a name with its commit, and with the path of the one file of data where it has none.
func (h *Hub) Pinned(text string) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n, t, err := h.find(text)
	if err != nil {
		return "", err
	}
	if data := t.data(); n.path == "" && len(data) == 1 {
		n.path = data[0]
	}
	return n.at(t.commit, n.path), nil
}

// Commit returns what the revision in a name was resolved to; false where the name was not opened.
func (h *Hub) Commit(text string) (Commit, bool) {
	n, err := parse(text)
	if err != nil || h == nil {
		return Commit{}, false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	c, ok := h.commits[n.at(n.revision, "")]
	return c, ok
}

// find resolves a name, and returns what its dataset holds at the commit.
func (h *Hub) find(text string) (name, *tree, error) {
	n, err := parse(text)
	if err != nil {
		return n, nil, err
	}
	c, err := h.resolve(n)
	if err != nil {
		return n, nil, err
	}
	t, err := h.tree(n, c.Commit)
	return n, t, err
}

// choices returns the files of data that a name could mean.
func choices(n name, t *tree) string {
	const most = 8
	data := t.data()
	if len(data) == 0 {
		return "it has none that is read: csv, tsv, json, jsonl or parquet"
	}
	if near, ok := assay.Closest(n.path, data); ok && n.path != "" {
		return "did you mean " + n.at(n.revision, near) + "?"
	}
	text := "write one of them: " + n.at(n.revision, data[0])
	for _, p := range data[1:min(len(data), most)] {
		text += ", …/" + p
	}
	if len(data) > most {
		text += " …"
	}
	return text
}

// entry is a file or a folder in a dataset.
type entry struct {
	name     string
	size     int64
	file     bool
	modified time.Time // when the file was kept; zero: it is not
}

func (e entry) Name() string               { return e.name }
func (e entry) Size() int64                { return e.size }
func (e entry) IsDir() bool                { return !e.file }
func (e entry) ModTime() time.Time         { return e.modified }
func (e entry) Sys() any                   { return nil }
func (e entry) Info() (fs.FileInfo, error) { return e, nil }
func (e entry) Type() fs.FileMode          { return e.Mode().Type() }
func (e entry) Mode() fs.FileMode {
	if e.file {
		return 0o400
	}
	return 0o500 | fs.ModeDir
}

// folder is a folder of a dataset. Its files are fetched when they are opened.
type folder struct {
	dirInfo
	left []fs.DirEntry
}

func (f *folder) Stat() (fs.FileInfo, error) { return f.dirInfo, nil }
func (f *folder) Close() error               { return nil }
func (f *folder) Read([]byte) (int, error)   { return 0, errors.New("it is a folder") }

// ReadDir returns the next entries, in the order of their names.
func (f *folder) ReadDir(n int) ([]fs.DirEntry, error) {
	if n > 0 && len(f.left) == 0 {
		return nil, io.EOF
	}
	if n <= 0 || n > len(f.left) {
		n = len(f.left)
	}
	out := f.left[:n]
	f.left = f.left[n:]
	return out, nil
}

// dirInfo describes a folder.
type dirInfo struct {
	entry
	of name
	t  *tree
}

// Choose returns an error that names the files of a dataset of which one has to be chosen; nil for a folder that was named.
func (d dirInfo) Choose() error {
	if d.of.path != "" {
		return nil
	}
	data := d.t.data()
	return problem(choices(d.of, d.t), "%s has %s", d.of, assay.Count(len(data), "file")+" of data")
}

// tree lists the files of a dataset at a commit.
type tree struct {
	commit string
	Files  []string        `json:"files"`
	Kept   map[string]kept `json:"kept,omitempty"` // by path: files that were fetched
}

// kept is a file that was fetched.
type kept struct {
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
}

// data returns the files that can be read as items; those that describe the dataset are none.
func (t *tree) data() []string {
	var out []string
	for _, p := range t.Files {
		base := path.Base(p)
		switch strings.ToLower(path.Ext(p)) {
		case ".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet":
			if !strings.HasPrefix(base, ".") && base != "dataset_infos.json" && base != "dataset_info.json" {
				out = append(out, p)
			}
		}
	}
	return out
}

// inside returns the entries of a folder by name; none where there is no such folder.
func (t *tree) inside(dir string) []fs.DirEntry {
	var out []fs.DirEntry
	seen := map[string]bool{}
	for _, p := range t.Files {
		rest := p
		if dir != "" {
			var ok bool
			if rest, ok = strings.CutPrefix(p, dir+"/"); !ok {
				continue
			}
		}
		base, _, deeper := strings.Cut(rest, "/")
		if !seen[base] {
			out = append(out, entry{name: base, file: !deeper, size: t.Kept[p].Size})
		}
		seen[base] = true
	}
	slices.SortFunc(out, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return out
}
