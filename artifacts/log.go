package artifacts

import (
	"errors"
	"fmt"
	"os"
	"sync"
)

// Log is an artifact that grows line by line: the raw replies of live requests. It is safe for concurrent use. Lines are
// in the file once Sync or Close has returned.
type Log struct {
	mu      sync.Mutex
	at      string
	file    appended
	size    int64 // with what waits
	waiting []byte
}

// mostWaiting is how many bytes of lines wait to be written together.
const mostWaiting = 256 << 10

// Log opens a log for appending. A line that was cut by a kill is ended, so that the next one stands alone.
func (f *Folder) Log(run, name string) (*Log, error) {
	at, err := place(run, name)
	if err != nil {
		return nil, err
	}
	if err := f.root.MkdirAll(run, 0o700); err != nil {
		return nil, fmt.Errorf("make folder of run %s: %w", run, err)
	}
	file, err := f.root.OpenFile(at, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open log %s: %w", at, err)
	}
	l := &Log{at: at, file: file}
	if err := errors.Join(l.mend(file), f.sync(run)); err != nil {
		return nil, errors.Join(fmt.Errorf("open log %s: %w", at, err), file.Close())
	}
	return l, nil
}

func (l *Log) mend(file *os.File) error {
	st, err := file.Stat()
	if err != nil {
		return err
	}
	if l.size = st.Size(); l.size == 0 {
		return nil
	}
	var last [1]byte
	if _, err := file.ReadAt(last[:], l.size-1); err != nil {
		return err
	}
	if last[0] == '\n' {
		return nil
	}
	n, err := l.file.Write([]byte{'\n'})
	l.size += int64(n)
	return err
}

// Add appends one line and returns where it begins. The bytes are kept as they are: a reply that has newlines in it is
// still read back by offset and length.
func (l *Log) Add(line []byte) (offset int64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	offset = l.size
	l.waiting = append(append(l.waiting, line...), '\n')
	l.size += int64(len(line)) + 1
	if len(l.waiting) < mostWaiting {
		return offset, nil
	}
	return offset, l.write()
}

// write writes what waits. What could not be written is not tried again: half of it may be there.
func (l *Log) write() error {
	if len(l.waiting) == 0 {
		return nil
	}
	n, err := l.file.Write(l.waiting)
	l.size -= int64(len(l.waiting) - n)
	if l.waiting = l.waiting[:0]; cap(l.waiting) > 2*mostWaiting {
		l.waiting = nil
	}
	if err != nil {
		return fmt.Errorf("append to %s: %w", l.at, err)
	}
	return nil
}

// Sync makes every line added so far safe.
func (l *Log) Sync() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.write(); err != nil {
		return err
	}
	if err := l.file.Sync(); err != nil {
		return fmt.Errorf("sync %s: %w", l.at, err)
	}
	return nil
}

// Size is how many bytes are there.
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
