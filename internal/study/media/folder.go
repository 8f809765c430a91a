package media

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync"
	"time"

	"assay/internal/assay"
)

// Folder finds the files of a study by name, and remembers what they tell until they change. It is safe for concurrent use.
type Folder struct {
	files fs.FS
	mu    sync.Mutex
	known map[string]*entry
	names map[assay.Sum]string // one for each content
}

// entry holds the facts of a file of a certain size and age.
type entry struct {
	once     sync.Once
	size     int64
	modified time.Time
	facts    Facts
	err      error
}

// NewFolder returns the files of a study's folder.
func NewFolder(files fs.FS) *Folder {
	return &Folder{files: files, known: map[string]*entry{}, names: map[assay.Sum]string{}}
}

// Find returns what a name means: one file, the files of a folder in the order of their names, or a URL.
func (f *Folder) Find(name string) ([]assay.File, error) {
	if strings.Contains(name, "://") {
		kind := remoteKind(name)
		return []assay.File{{As: name, Kind: kind}}, nil
	}
	info, err := fs.Stat(f.files, name)
	if err != nil {
		return nil, missing(name, err)
	}
	if !info.IsDir() {
		file, err := f.file(name, name, info)
		return []assay.File{file}, err
	}
	entries, err := fs.ReadDir(f.files, name)
	if err != nil {
		return nil, missing(name, err)
	}
	var out []assay.File
	for _, e := range entries {
		if e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		at := path.Join(name, e.Name())
		info, err := fs.Stat(f.files, at)
		if err != nil {
			return nil, missing(at, err)
		}
		file, err := f.file(name, at, info)
		if err != nil {
			return nil, err
		}
		out = append(out, file)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s is a folder without files", name)
	}
	return out, nil
}

// Open opens a file whose content is known.
func (f *Folder) Open(sum assay.Sum) (io.ReadCloser, error) {
	f.mu.Lock()
	name := f.names[sum]
	f.mu.Unlock()
	if name == "" {
		return nil, fmt.Errorf("no file has the content %s", sum)
	}
	return f.files.Open(name)
}

// missing returns an error about a name without the words of the system.
func missing(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is not there", name)
	}
	return fmt.Errorf("%s: %s", name, assay.FileReason(err))
}

// file returns what one file tells.
func (f *Folder) file(as, name string, info fs.FileInfo) (assay.File, error) {
	f.mu.Lock()
	e := f.known[name]
	if e == nil || e.size != info.Size() || !e.modified.Equal(info.ModTime()) {
		e = &entry{size: info.Size(), modified: info.ModTime()}
		f.known[name] = e
	}
	f.mu.Unlock()
	e.once.Do(func() { e.facts, e.err = f.read(name) })
	if e.err != nil {
		return assay.File{}, missing(name, e.err)
	}
	t := e.facts
	f.mu.Lock()
	f.names[t.Sum] = name
	f.mu.Unlock()
	switch {
	case t.Size == 0:
		return assay.File{}, fmt.Errorf("%s is empty", name)
	case t.Kind == "":
		return assay.File{}, fmt.Errorf("%s is no picture, PDF or sound: its first bytes are of no known type", name)
	case t.Locked && t.Pages == 0:
		return assay.File{}, fmt.Errorf("%s is protected by a password", name)
	}
	return assay.File{As: as, Name: name, Kind: t.Kind, Type: t.Type, Size: t.Size, Sum: t.Sum, Width: t.Width, Height: t.Height,
		Pages: t.Pages, Length: t.Length}, nil
}

func (f *Folder) read(name string) (Facts, error) {
	file, err := f.files.Open(name)
	if err != nil {
		return Facts{}, err
	}
	defer file.Close()
	return Read(file)
}

// remoteKind returns what a URL leads to, as far as its ending tells: a picture, where it tells nothing.
func remoteKind(url string) assay.MediaKind {
	url, _, _ = strings.Cut(url, "?")
	switch strings.ToLower(path.Ext(url)) {
	case ".pdf":
		return assay.MediaDocument
	case ".wav", ".mp3", ".flac", ".ogg", ".m4a", ".aiff":
		return assay.MediaAudio
	}
	return assay.MediaImage
}
