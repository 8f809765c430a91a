package pgtest

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Pooler starts a PgBouncer in front of the server until the test ends, and returns the URL of a database through it. Its mode is
// "session", "transaction" or "statement".
func (s *Server) Pooler(t testing.TB, where, mode string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "assay-pool-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	as, err := unprivileged(dir)
	if err != nil {
		t.Fatal(err)
	}
	const port = "6432" // names a socket in the folder, and no port
	config := filepath.Join(dir, "pgbouncer.ini")
	text := fmt.Sprintf("[databases]\n* = host=%s user=postgres\n[pgbouncer]\nunix_socket_dir = %s\nlisten_port = %s\nauth_type = any\n"+
		"pool_mode = %s\n", s.dir, dir, port, mode)
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	program := "/usr/sbin/pgbouncer"
	if found, err := exec.LookPath("pgbouncer"); err == nil {
		program = found
	}
	cmd := exec.Command(program, config)
	as(cmd)
	var log strings.Builder
	cmd.Dir, cmd.Stderr, cmd.Stdout = dir, &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatalf("no PgBouncer is installed (on Debian, apt-get install pgbouncer): %v", err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	socket := filepath.Join(dir, ".s.PGSQL."+port)
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if c, err := net.Dial("unix", socket); err == nil {
			c.Close()
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("PgBouncer does not answer: %s", log.String())
		}
	}
	u, err := url.Parse(where)
	if err != nil {
		t.Fatal(err)
	}
	u.RawQuery = url.Values{"host": {dir}, "port": {port}, "user": {"postgres"}, "sslmode": {"disable"}}.Encode()
	return u.String()
}
