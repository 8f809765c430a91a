package artifacts

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"sync"
	"time"
)

// Cache is the folder for chunks of a bucket on this machine, and its size in bytes. 0 bytes: none.
type Cache struct {
	Dir   string
	Bytes int64
}

// cache keeps chunks on this machine. Keys are never written twice, so nothing in it is ever stale; it may be thrown away at
// any time, and several processes may share it.
type cache struct {
	Cache
	of string // where the objects are: caches of several buckets may share a folder

	mu      sync.Mutex
	bytes   int64           // about so many are there
	checked map[string]bool // chunks that this process has held against their sums
	broken  bool            // it cannot be written
	fetches map[string]*pending
}

// pending is a chunk that one reader fetches and others wait for.
type pending struct {
	done chan struct{}
	body []byte
	err  error
}

func newCache(c Cache, of string) (*cache, error) {
	k := &cache{Cache: c, of: of, checked: map[string]bool{}, fetches: map[string]*pending{}}
	if c.Bytes <= 0 {
		return k, nil
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the cache of artifacts: %w", err)
	}
	k.trim()
	return k, nil
}

func (k *cache) off() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.Bytes <= 0 || k.broken
}

func (k *cache) file(key string) string { return filepath.Join(k.Dir, sumOf([]byte(k.of+key))) }

// read reads a part of a chunk, and reports whether it is here.
func (k *cache) read(key string, c chunk, p []byte, off int64) bool {
	if k.Bytes <= 0 {
		return false
	}
	f, err := os.Open(k.file(key))
	if err != nil {
		return false
	}
	defer f.Close()
	if !k.check(f, key, c) {
		return false
	}
	_, err = f.ReadAt(p, off)
	return err == nil
}

// check holds a chunk against its sum, once in a process: a loss of power may have cut it.
func (k *cache) check(f *os.File, key string, c chunk) bool {
	k.mu.Lock()
	checked := k.checked[key]
	k.mu.Unlock()
	if checked {
		return true
	}
	body := make([]byte, c.Size)
	if _, err := f.ReadAt(body, 0); err != nil || sumOf(body) != c.SHA256 {
		return false
	}
	now := time.Now()
	_ = os.Chtimes(f.Name(), now, now) // it is needed: others go first
	k.note(key, 0)
	return true
}

func (k *cache) note(key string, n int64) (full bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.checked) >= mostChunks {
		clear(k.checked)
	}
	k.checked[key] = true
	k.bytes += n
	return k.bytes > k.Bytes
}

// add keeps a chunk. A cache that cannot be written is one that is not there.
func (k *cache) add(key string, body []byte) {
	if k.off() {
		return
	}
	name := k.file(key)
	temp := name + "." + random()
	err := os.WriteFile(temp, body, 0o600)
	if err == nil {
		err = os.Rename(temp, name)
	}
	if err != nil {
		os.Remove(temp)
		k.mu.Lock()
		k.broken = true
		k.mu.Unlock()
		return
	}
	if k.note(key, int64(len(body))) {
		k.trim()
	}
}

// trim counts what is there, and throws out the oldest above the limit.
func (k *cache) trim() {
	entries, err := os.ReadDir(k.Dir)
	if err != nil {
		return
	}
	var all []os.FileInfo
	sum := int64(0)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			all = append(all, info)
			sum += info.Size()
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].ModTime().Before(all[j].ModTime()) })
	most := k.Bytes
	if sum > most {
		most -= most / 10 // so that the next chunk needs no look
	}
	for _, info := range all {
		if sum <= most {
			break
		}
		if os.Remove(filepath.Join(k.Dir, info.Name())) == nil {
			sum -= info.Size()
		}
	}
	k.mu.Lock()
	k.bytes = sum
	k.mu.Unlock()
}

// once has one reader fetch a chunk while others that want it wait.
func (k *cache) once(ctx context.Context, key string, fetch func() ([]byte, error)) ([]byte, error) {
	k.mu.Lock()
	f, there := k.fetches[key]
	if !there {
		f = &pending{done: make(chan struct{})}
		k.fetches[key] = f
	}
	k.mu.Unlock()
	if there {
		select {
		case <-f.done:
			if f.err != nil {
				return fetch() // its context may have ended, and ours has not
			}
			return f.body, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	f.body, f.err = fetch()
	k.mu.Lock()
	delete(k.fetches, key)
	k.mu.Unlock()
	close(f.done)
	return f.body, f.err
}
