// Package pgtest starts a throwaway PostgreSQL server, for the tests of one binary or for a benchmark.
package pgtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // registers "pgx"

	"assay/internal/keep/ledger"
)

// Server is a running server that forgets everything when it stops.
type Server struct {
	dir  string
	args []string // of the server
	as   func(*exec.Cmd)
	cmd  *exec.Cmd
	done chan struct{} // closed when the process has ended
	next atomic.Int64

	first sync.Mutex
	model string   // a database with the tables of a ledger and nothing in them; empty: none is made yet
	spare []string // URLs of databases that tests have had, and are cleared
}

// Start makes and starts a server in a temporary folder, reachable through a socket in it. Settings, such as "fsync=on", go
// before those that are good for tests.
func Start(settings ...string) (*Server, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "assay-pg-")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir}
	if err := s.start(bin, settings); err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

func (s *Server) start(bin string, settings []string) (err error) {
	if s.as, err = unprivileged(s.dir); err != nil {
		return err
	}
	data := filepath.Join(s.dir, "data")
	initdb := exec.Command(filepath.Join(bin, "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C",
		"--no-sync")
	s.as(initdb)
	initdb.Dir = s.dir
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	s.args = []string{filepath.Join(bin, "postgres"), "-D", data, "-k", s.dir}
	for _, one := range append([]string{
		"listen_addresses=", "fsync=off", "full_page_writes=off", "max_connections=500", "shared_buffers=64MB", "autovacuum=off",
	}, settings...) {
		s.args = append(s.args, "-c", one)
	}
	return s.Restart()
}

// Restart starts a server that has ended.
func (s *Server) Restart() error {
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	s.cmd, s.done = exec.Command(s.args[0], s.args[1:]...), make(chan struct{})
	s.as(s.cmd)
	s.cmd.Dir, s.cmd.Stdout, s.cmd.Stderr = s.dir, log, log
	if err := s.launch(); err != nil {
		return fmt.Errorf("start postgres: %w", err)
	}
	return s.await()
}

// launch starts the server from a thread that lives as long as the server: the server dies with the tests.
func (s *Server) launch() error {
	started := make(chan error)
	cmd, done := s.cmd, s.done
	go func() {
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // how it ended is of no interest
			close(done)
		}
	}()
	return <-started
}

// Kill kills the server and all its processes, as a machine does that fails. What they had not handed to the operating system is lost.
func (s *Server) Kill() {
	all := s.Processes()
	_ = s.cmd.Process.Kill() // it may have ended
	for _, pid := range all {
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill()
		}
	}
	<-s.done
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for left := s.left(); len(left) > 0 || slices.ContainsFunc(all, running); left = s.left() {
		for _, p := range left {
			_ = p.Kill() // it may have ended
		}
		<-look.C
	}
}

// left are processes that still work in the server's folder: one that was just started when the others were counted has not
// ended with them, and no server starts beside it.
func (s *Server) left() (some []*os.Process) {
	data, err := filepath.EvalSymlinks(filepath.Join(s.dir, "data"))
	if err != nil {
		return nil
	}
	found, _ := filepath.Glob("/proc/[0-9]*/cwd") // the pattern is sound
	for _, name := range found {
		if at, err := os.Readlink(name); err != nil || at != data {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err == nil {
			if p, err := os.FindProcess(pid); err == nil {
				some = append(some, p)
			}
		}
	}
	return some
}

// Processes returns the server's: the first, and those it has started.
func (s *Server) Processes() []int {
	first := s.cmd.Process.Pid
	all := []int{first}
	found, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is sound
	for _, name := range found {
		if state, parent := stat(name); state != "" && parent == first {
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err == nil {
				all = append(all, pid)
			}
		}
	}
	return all
}

// running reports whether a process is there and no zombie.
func running(pid int) bool {
	state, _ := stat(fmt.Sprintf("/proc/%d/stat", pid))
	return state != "" && state != "Z"
}

// stat reads the state of a process and its parent; empty: there is none.
func stat(name string) (state string, parent int) {
	text, err := os.ReadFile(name)
	if err != nil {
		return "", 0
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	if _, err := fmt.Sscan(rest, &state, &parent); err != nil {
		return "", 0
	}
	return state, parent
}

func (s *Server) await() error {
	db, err := sql.Open("pgx", s.url("postgres"))
	if err != nil {
		return err
	}
	defer db.Close()
	for deadline := time.Now().Add(time.Minute); ; {
		err := db.Ping()
		if err == nil {
			return nil
		}
		select {
		case <-s.done:
			text, _ := os.ReadFile(filepath.Join(s.dir, "log"))
			return fmt.Errorf("postgres ended: %s", text)
		case <-time.After(50 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("postgres does not answer: %w", err)
		}
	}
}

// Stop ends the server and removes its folder.
func (s *Server) Stop() {
	if s.cmd != nil && s.cmd.Process != nil {
		s.cmd.Process.Signal(os.Interrupt)
		select {
		case <-s.done:
		case <-time.After(20 * time.Second):
			s.cmd.Process.Kill()
			<-s.done
		}
	}
	os.RemoveAll(s.dir)
}

// Database makes a database for a test, with a ledger that nothing was written to, and returns its URL.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	model, err := s.ledger(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	where, err := s.create(context.Background(), fmt.Sprintf("t%d", s.next.Add(1)), model)
	if err != nil {
		t.Fatal(err)
	}
	return where
}

// Cleared returns a database like that of Database, which tests before may have had: making one takes longer than most
// tests. The test changes rows, and nothing else, and has closed it when it ends.
func (s *Server) Cleared(t testing.TB) string {
	t.Helper()
	s.first.Lock()
	var where string
	if n := len(s.spare); n > 0 {
		where, s.spare = s.spare[n-1], s.spare[:n-1]
	}
	s.first.Unlock()
	if where == "" {
		where = s.Database(t)
	}
	t.Cleanup(func() {
		if t.Failed() {
			return
		}
		if err := clearRows(context.Background(), where); err != nil {
			t.Error(err)
			return
		}
		s.first.Lock()
		defer s.first.Unlock()
		s.spare = append(s.spare, where)
	})
	return where
}

// clearRows deletes all rows, and has the numbers begin at 1 again.
func clearRows(ctx context.Context, where string) error {
	db, err := sql.Open("pgx", where)
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.ExecContext(ctx, `DO $$ DECLARE name TEXT; BEGIN
		SET LOCAL session_replication_role = replica; -- in any order
		FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'goose_db_version' LOOP
			EXECUTE format('DELETE FROM %I', name);
		END LOOP;
		PERFORM setval(oid::regclass, 1, false) FROM pg_class WHERE relkind = 'S' AND relnamespace = 'public'::regnamespace AND relname NOT LIKE 'goose%';
	END $$`)
	if err != nil {
		return fmt.Errorf("clear a database: %w", err)
	}
	return nil
}

// Create makes a fresh, empty database and returns its URL.
func (s *Server) Create(ctx context.Context) (string, error) {
	return s.create(ctx, fmt.Sprintf("t%d", s.next.Add(1)), "template1")
}

// ledger returns the database that those of tests are copies of: a copy takes a tenth of the time that a migration does.
func (s *Server) ledger(ctx context.Context) (string, error) {
	s.first.Lock()
	defer s.first.Unlock()
	if s.model != "" {
		return s.model, nil
	}
	where, err := s.create(ctx, "model", "template1")
	if err != nil {
		return "", err
	}
	l, err := ledger.Open(ctx, where, ledger.Options{})
	if err != nil {
		return "", err
	}
	if err := l.Close(); err != nil {
		return "", err
	}
	s.model = "model"
	return s.model, nil
}

func (s *Server) create(ctx context.Context, name, model string) (string, error) {
	db, err := sql.Open("pgx", s.url("postgres"))
	if err != nil {
		return "", err
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, "CREATE DATABASE "+name+" TEMPLATE "+model+" STRATEGY FILE_COPY"); err != nil {
		return "", fmt.Errorf("create database: %w", err)
	}
	return s.url(name), nil
}

func (s *Server) url(database string) string {
	q := url.Values{"host": {s.dir}, "user": {"postgres"}, "sslmode": {"disable"}}
	return "postgres:///" + database + "?" + q.Encode()
}

// Main runs the tests of a binary with a server, and returns the exit code.
func Main(m *testing.M, server **Server) int {
	s, err := Start()
	if err != nil {
		fmt.Fprintln(os.Stderr, "pgtest:", err)
		return 1
	}
	defer s.Stop()
	*server = s
	return m.Run()
}

// binaries finds the newest installed server.
func binaries() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		if path, err := exec.LookPath("initdb"); err == nil {
			return filepath.Dir(path), nil
		}
		return "", errors.New("no PostgreSQL server is installed: on Debian, apt-get install postgresql")
	}
	return filepath.Dir(found[len(found)-1]), nil
}

// unprivileged returns what makes a command run as a user that PostgreSQL accepts: it refuses to run as root.
func unprivileged(dir string) (func(*exec.Cmd), error) {
	if os.Getuid() != 0 {
		return func(c *exec.Cmd) { dieWithParent(c) }, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		if u, err = user.Lookup("nobody"); err != nil {
			return nil, err
		}
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		return nil, err
	}
	if err := os.Chown(dir, uid, gid); err != nil {
		return nil, err
	}
	return func(c *exec.Cmd) { dieWithParent(c); runAs(c, uid, gid) }, nil
}
