package artifacts

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
)

// Log is an artifact that grows record by record. It has one writer for ever: a name is opened once, so that offsets stay
// true whatever other processes do. It is safe for concurrent use.
//
// A record that was flushed survives this process, and one that was synced the power. Without either it may be lost. What a
// bucket could not take waits for the next try; what a file could not take breaks the log.
type Log struct {
	at      string
	file    appended
	syncing sync.Mutex // one at a time, and whoever waited meanwhile was served with it

	mu      sync.Mutex
	size    int64 // with what waits
	synced  int64
	waiting []byte
	broken  error // half of a record may be there: nothing is added behind it
}

// mostWaiting is how many bytes of records wait to be written together.
const mostWaiting = 256 << 10

// Log begins a log. A name that is taken is fs.ErrExist.
func (f *Folder) Log(run, name string) (*Log, error) {
	at, err := place(run, name)
	if err != nil {
		return nil, err
	}
	if err := f.root.MkdirAll(run, 0o700); err != nil {
		return nil, fmt.Errorf("make folder of run %s: %w", run, err)
	}
	var file *os.File
	err = f.step(StepMake, at, func() (err error) {
		file, err = f.root.OpenFile(at, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("open log %s: %w", at, err)
	}
	if err := f.sync(run); err != nil {
		return nil, errors.Join(fmt.Errorf("open log %s: %w", at, err), file.Close())
	}
	return &Log{at: at, file: &folderFile{file, f, at}}, nil
}

// folderFile is a file of a folder that is written.
type folderFile struct {
	*os.File
	folder *Folder
	at     string
}

// Write appends.
func (w *folderFile) Write(p []byte) (n int, err error) {
	err = w.folder.step(StepWrite, w.at, func() error {
		n, err = w.File.Write(p)
		return err
	})
	return n, err
}

// Sync makes what was written survive the power.
func (w *folderFile) Sync() error { return w.folder.step(StepSync, w.at, w.File.Sync) }

// Add adds a record and returns where its body begins.
func (l *Log) Add(head, body []byte) (offset int64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := len(l.waiting)
	l.waiting = AppendRecord(l.waiting, head, body)
	l.size += int64(len(l.waiting) - before)
	offset = l.size
	if len(body) > 0 {
		offset -= int64(len(body)) + 1
	}
	if len(l.waiting) < mostWaiting {
		return offset, l.broken
	}
	return offset, l.write()
}

// write writes what waits. What could not be written is not tried again: half of it may be there.
func (l *Log) write() error {
	if len(l.waiting) > 0 && l.broken == nil {
		if _, err := l.file.Write(l.waiting); err != nil {
			l.broken = fmt.Errorf("append to %s: %w", l.at, err)
		}
	}
	if l.waiting = l.waiting[:0]; cap(l.waiting) > 2*mostWaiting {
		l.waiting = nil
	}
	return l.broken
}

// Flush makes every record added so far survive the end of this process. What is written to a file does; elsewhere it has to
// be synced.
func (l *Log) Flush() error {
	if _, file := l.file.(*folderFile); !file {
		return l.Sync()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.write()
}

// Sync makes every record added so far survive the power. Records can be added meanwhile.
func (l *Log) Sync() error {
	l.mu.Lock()
	want := l.size
	l.mu.Unlock()
	l.syncing.Lock()
	defer l.syncing.Unlock()
	l.mu.Lock()
	if l.synced >= want && l.broken == nil {
		l.mu.Unlock()
		return nil
	}
	err := l.write()
	upTo := l.size
	l.mu.Unlock()
	if err != nil {
		return err
	}
	err = l.file.Sync()
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		err = fmt.Errorf("sync %s: %w", l.at, err)
		if _, file := l.file.(*folderFile); file || errors.Is(err, fs.ErrExist) { // a file may have lost it; another has the name
			l.broken = err
		}
		return err
	}
	l.synced = upTo
	return nil
}

// Broken reports whether the log takes nothing more. A log that is not can be flushed and synced again after an error: what
// could not be kept waits.
func (l *Log) Broken() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.broken != nil
}

// Size returns how many bytes are there.
func (l *Log) Size() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.size
}

// Close syncs and closes.
func (l *Log) Close() error {
	if err := errors.Join(l.Sync(), l.file.Close()); err != nil {
		return fmt.Errorf("close %s: %w", l.at, err)
	}
	return nil
}
