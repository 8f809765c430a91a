package hub

import (
	"cmp"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
)

// resolve returns the commit of a revision. The first commit that a revision is found at stays; a newer one is told.
func (h *Hub) resolve(n name) (Commit, error) {
	key := n.at(n.revision, "")
	if c, ok := h.commits[key]; ok {
		return c, nil
	}
	c := Commit{Dataset: n.dataset(), Revision: n.revision, Commit: n.revision}
	if !isCommit(n.revision) {
		revision := cmp.Or(n.revision, usualRevision)
		pin, pinned := h.at(n, filepath.Join("revisions", url.PathEscape(revision)+".json")), ""
		if err := h.read(pin, &pinned); err != nil {
			return c, err
		}
		newest, err := h.ask(n, revision)
		switch {
		case err != nil && (pinned == "" || h.Context.Err() != nil):
			return c, err
		case err != nil:
			c.Commit = pinned // as it was; the server says nothing
		case pinned == "":
			if _, err := os.Stat(h.at(n, newest.commit+".json")); err != nil {
				if err := h.keepTree(n, newest); err != nil {
					return c, err
				}
			}
			if err := h.write(pin, newest.commit); err != nil {
				return c, err
			}
			c.Commit = newest.commit
		default:
			if c.Commit = pinned; pinned != newest.commit {
				c.Newest = newest.commit
			}
		}
	}
	if h.commits == nil {
		h.commits = map[string]Commit{}
	}
	h.commits[key] = c
	return c, nil
}

// tree returns what a dataset holds at a commit: as it was kept, else from the server.
func (h *Hub) tree(n name, commit string) (*tree, error) {
	key := n.dataset() + "@" + commit
	if t, ok := h.trees[key]; ok {
		return t, nil
	}
	t := &tree{commit: commit}
	if err := h.read(h.at(n, commit+".json"), t); err != nil {
		return nil, err
	}
	if len(t.Files) == 0 {
		var err error
		if t, err = h.ask(n, commit); err != nil {
			return nil, err
		}
		if err := h.keepTree(n, t); err != nil {
			return nil, err
		}
	}
	if h.trees == nil {
		h.trees = map[string]*tree{}
	}
	h.trees[key] = t
	return t, nil
}

func (h *Hub) keepTree(n name, t *tree) error { return h.write(h.at(n, t.commit+".json"), t) }

// file opens a file of a dataset: the one that was kept if it is whole, else it is fetched.
func (h *Hub) file(n name, t *tree) (fs.File, error) {
	if k, ok := t.Kept[n.path]; ok {
		if f, err := h.open(n, k); err == nil {
			return f, nil
		}
	}
	k, err := h.fetch(n, t.commit)
	if err != nil {
		return nil, err
	}
	if t.Kept == nil {
		t.Kept = map[string]kept{}
	}
	t.Kept[n.path] = k
	if err := h.keepTree(n, t); err != nil {
		return nil, err
	}
	return h.open(n, k)
}

// errDamaged is a kept file that is not what it was.
var errDamaged = errors.New("the kept file is damaged")

// open opens a kept file. Its bytes are compared with their hash once in a process.
func (h *Hub) open(n name, k kept) (fs.File, error) {
	f, err := os.Open(h.blob(k.SHA256))
	if err != nil {
		return nil, unkept(err)
	}
	if !h.whole[k.SHA256] {
		sum := sha256.New()
		if _, err := io.Copy(sum, f); err != nil || hexOf(sum) != k.SHA256 {
			f.Close()
			return nil, errors.Join(errDamaged, err, os.Remove(h.blob(k.SHA256)))
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			f.Close()
			return nil, unkept(err)
		}
		if h.whole == nil {
			h.whole = map[string]bool{}
		}
		h.whole[k.SHA256] = true
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, unkept(err)
	}
	return opened{f, entry{name: path.Base(n.path), size: k.Size, file: true, modified: info.ModTime()}}, nil
}

// opened is a kept file under its own name.
type opened struct {
	*os.File
	entry entry
}

func (o opened) Stat() (fs.FileInfo, error) { return o.entry, nil }

// at returns where something about a dataset is kept.
func (h *Hub) at(n name, file string) string {
	return filepath.Join(h.Dir(), "datasets", n.owner, n.repo, file)
}

// blob returns where bytes are kept.
func (h *Hub) blob(sum string) string { return filepath.Join(h.Dir(), "files", sum) }

// read reads JSON that was kept; nothing where there is none.
func (h *Hub) read(file string, into any) error {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		return problem("remove the file: it is fetched again", "read %s: %s", file, err)
	}
	return nil
}

// write keeps JSON: a reader sees what it was, or what it is.
func (h *Hub) write(file string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return unkept(err)
	}
	f, err := os.CreateTemp(filepath.Dir(file), ".new-*") // readable by its owner alone
	if err != nil {
		return unkept(err)
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		return unkept(errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}

// unkept is the error of a home that takes nothing.
func unkept(err error) error {
	return problem("--home or ASSAY_HOME names another folder", "keep the dataset: %s", err)
}

// digest computes the hash that a server names: SHA-256 of large files, that of git for others.
func digest(named string, size int64) hash.Hash {
	if len(named) == hex.EncodedLen(sha256.Size) {
		return sha256.New()
	}
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", size)
	return h
}

// isHash reports whether a server names one of both.
func isHash(named string) bool {
	raw, err := hex.DecodeString(named)
	return err == nil && (len(raw) == sha256.Size || len(raw) == sha1.Size)
}

func hexOf(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// stopped reports whether the user ended what was going on.
func (h *Hub) stopped() error {
	if err := h.Context.Err(); err != nil {
		return context.Cause(h.Context)
	}
	return nil
}
