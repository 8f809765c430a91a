package worlds

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"assay/internal/keep/artifacts"
)

// file takes a step on a file of the artifacts at once, as locks may be held around it, and remembers what of it is safe.
func (p *proc) file(op artifacts.Step, name string, call func() error) error {
	return p.take("file "+string(op)+" "+generic(name), func() error {
		if p.isFull() && (op == artifacts.StepMake || op == artifacts.StepWrite) {
			return syscall.ENOSPC
		}
		err := call()
		if err == nil {
			p.m.remember(op, name)
		}
		return err
	})
}

// isFull reports whether the disk takes nothing more.
func (p *proc) isFull() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.end.How == full && p.hit != ""
}

// synced keeps the ledger as it is now, if the power is to be lost: commits that follow may be lost.
func (p *proc) synced() {
	if p.m.flag(&p.m.risk) && !p.isDead() {
		p.m.copyBook(".synced")
	}
}

func (m *machine) flag(of *bool) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return *of
}

// copyBook copies the ledger and its log to another name.
func (m *machine) copyBook(to string) {
	for _, part := range []string{"", "-wal"} {
		err := m.copyFile(m.book+part, m.book+to+part)
		if errors.Is(err, os.ErrNotExist) {
			err = os.RemoveAll(m.book + to + part)
		}
		if err != nil {
			panic(err)
		}
	}
}

// copyFile copies a file through one buffer, as it is done at every commit.
func (m *machine) copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	if m.buffer == nil {
		m.buffer = make([]byte, 1<<16)
	}
	_, err = io.CopyBuffer(struct{ io.Writer }{out}, struct{ io.Reader }{in}, m.buffer)
	return errors.Join(err, out.Close())
}

func (m *machine) remember(op artifacts.Step, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch op {
	case artifacts.StepMake, artifacts.StepWrite:
		m.unsynced[name] = m.synced[name]
	case artifacts.StepSync:
		if info, err := os.Stat(filepath.Join(m.dir, name)); err == nil {
			m.synced[name] = info.Size()
		}
		delete(m.unsynced, name)
	case artifacts.StepPublish:
		m.published(name)
	case artifacts.StepRemove:
	}
}

// published gives a file what was unsynced of the part that it was made of.
func (m *machine) published(name string) {
	whole, err := os.Stat(filepath.Join(m.dir, name))
	if err != nil {
		return
	}
	for part, size := range m.unsynced {
		if info, err := os.Stat(filepath.Join(m.dir, part)); err == nil && os.SameFile(info, whole) {
			m.unsynced[name] = size
			return
		}
	}
}

// loseUnsynced takes from files what was not synced, as a loss of power does.
func (m *machine) loseUnsynced() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, size := range m.unsynced {
		err := os.Truncate(filepath.Join(m.dir, name), size)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	clear(m.unsynced)
	m.outages++
	m.risk, m.off = false, false
	if _, err := os.Stat(m.book + ".synced"); err != nil {
		return nil
	}
	return errors.Join(m.links.bring(m.book, m.book+".synced"), os.Remove(m.book+".synced"), os.RemoveAll(m.book+".synced-wal"),
		os.RemoveAll(m.book+".synced-shm"))
}
