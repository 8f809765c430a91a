package worlds

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"assay/internal/keep/store/storetest"
)

// slot is a folder in which worlds are played one after the other. Its ledger is emptied between them and keeps its connections: parsing
// the tables and all queries again for every world would take a seventh of its time.
type slot struct {
	dir   string
	links connections
	clear []string // what empties the ledger
}

// slots are those in which no world is played.
var slots []*slot

// takeSlot returns an empty one.
func takeSlot() (*slot, error) {
	if n := len(slots); n > 0 {
		s := slots[n-1]
		slots = slots[:n-1]
		return s, nil
	}
	dir, err := os.MkdirTemp("/dev/shm", "world-") // in memory, where there is such a place: nothing of it is kept
	if err != nil {
		dir, err = os.MkdirTemp("", "world-")
	}
	s := &slot{dir: dir}
	return s, errors.Join(err, s.begin())
}

func (s *slot) book() string { return filepath.Join(s.dir, "assay-data", "ledger.db") }

// begin puts a new ledger, and remembers what is in one.
func (s *slot) begin() error {
	if err := storetest.CopyNew(s.book()); err != nil {
		return err
	}
	var err error
	if s.links.own, err = sql.Open("sqlite", "file:"+s.book()); err != nil {
		return err
	}
	s.links.own.SetMaxOpenConns(1) // tables that are not kept belong to a connection
	// The program makes this index when it first looks for equal requests. A table that changes has all queries parsed again.
	_, err = s.links.own.Exec(`CREATE INDEX IF NOT EXISTS attempts_digest ON attempts (digest) WHERE digest IS NOT NULL`)
	if err != nil {
		return err
	}
	rows, err := s.links.own.Query(`SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_stat%'`)
	if err != nil {
		return err
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return err
		}
		names = append(names, name)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	s.links.tables = names
	for _, name := range names {
		s.clear = append(s.clear, "DELETE FROM main."+name)
		var n int
		if err := s.links.own.QueryRow("SELECT COUNT(*) FROM " + name).Scan(&n); err != nil {
			return err
		}
		if n == 0 {
			continue
		}
		kept := strings.TrimPrefix(name, "sqlite_")
		if _, err := s.links.own.Exec(fmt.Sprintf("CREATE TEMP TABLE kept_%s AS SELECT * FROM main.%s", kept, name)); err != nil {
			return err
		}
		s.clear = append(s.clear, fmt.Sprintf("INSERT INTO main.%s SELECT * FROM kept_%s", name, kept))
	}
	return nil
}

// giveBack empties a slot for the next world. One whose ledger was lost or replaced goes away.
func (s *slot) giveBack() error {
	if s.links.dropped {
		return errors.Join(s.links.drop(), os.RemoveAll(s.dir))
	}
	err := errors.Join(s.links.dropOthers(s.book()), s.empty(), s.sweep())
	slots = append(slots, s)
	return err
}

// empty brings the ledger back to what it was.
func (s *slot) empty() error {
	_, err := s.links.own.Exec("BEGIN; " + strings.Join(s.clear, "; ") + "; COMMIT; PRAGMA wal_checkpoint(TRUNCATE)")
	return err
}

// sweep removes all files but the ledger.
func (s *slot) sweep() error {
	all, err := os.ReadDir(s.dir)
	home, more := os.ReadDir(filepath.Dir(s.book()))
	if err = errors.Join(err, more); err != nil {
		return err
	}
	for _, f := range all {
		if name := filepath.Join(s.dir, f.Name()); name != filepath.Dir(s.book()) {
			err = errors.Join(err, os.RemoveAll(name))
		}
	}
	for _, f := range home {
		if !strings.HasPrefix(f.Name(), filepath.Base(s.book())) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(filepath.Dir(s.book()), f.Name())))
		}
	}
	return err
}
