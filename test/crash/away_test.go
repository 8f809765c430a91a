package crash

import (
	"bytes"
	"net"
	"net/url"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// gate lets connections through to a server, or breaks them all and takes no more.
type gate struct {
	net.Listener
	network, to string

	mu      sync.Mutex
	shut    bool
	through map[net.Conn]bool
	refused int
	commits int // that were sent through it
	lose    int // the commit of this number is done, and its connection breaks before the reply; 0: none
}

// newGate puts a gate before the server of a database, and returns the database's URL through it.
func newGate(t *testing.T, db string) (*gate, string) {
	t.Helper()
	u, err := url.Parse(db)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	g := &gate{Listener: l, network: "unix", to: filepath.Join(q.Get("host"), ".s.PGSQL.5432"), through: map[net.Conn]bool{}}
	t.Cleanup(func() { g.set(true); l.Close() })
	go g.serve()
	q.Del("host")
	u.Host, u.RawQuery = l.Addr().String(), q.Encode()
	return g, u.String()
}

func (g *gate) serve() {
	for {
		c, err := g.Accept()
		if err != nil {
			return
		}
		g.mu.Lock()
		shut := g.shut
		if shut {
			g.refused++
		}
		g.mu.Unlock()
		server, err := net.Dial(g.network, g.to)
		if shut || err != nil {
			c.Close()
			continue
		}
		g.mu.Lock()
		g.through[c], g.through[server] = true, true
		g.mu.Unlock()
		var unheard atomic.Bool // the next reply of the server
		go g.pipe(c, server, func(sent []byte) bool {
			if bytes.Contains(sent, []byte("commit\x00")) && g.loses() {
				unheard.Store(true)
			}
			return true
		})
		go g.pipe(server, c, func([]byte) bool { return !unheard.Load() })
	}
}

// pipe carries bytes that may pass, until either side ends or something may not.
func (g *gate) pipe(from, to net.Conn, may func([]byte) bool) {
	defer from.Close()
	defer to.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			if !may(buf[:n]) {
				return
			}
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// loses counts a commit, and reports whether its reply is to be lost.
func (g *gate) loses() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.commits++
	return g.commits == g.lose
}

// set shuts the gate, and breaks what is open, or opens it.
func (g *gate) set(shut bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut, g.refused = shut, 0
	if shut {
		for c := range g.through {
			c.Close()
		}
		clear(g.through)
	}
}

// turnedAway waits until so many connections were refused.
func (g *gate) turnedAway(t *testing.T, n int) {
	t.Helper()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for end := time.Now().Add(patience); time.Now().Before(end); <-look.C {
		g.mu.Lock()
		refused := g.refused
		g.mu.Unlock()
		if refused >= n {
			return
		}
	}
	t.Fatalf("not %d connections were tried", n)
}

// TestADatabaseThatIsAwayForAWhileIsWaitedFor cuts a process off from its PostgreSQL, once while it waits for jobs and once while
// others are on their way: it goes on by itself, and nothing is paid twice.
func TestADatabaseThatIsAwayForAWhileIsWaitedFor(t *testing.T) {
	t.Parallel()
	for name, command := range map[string][]string{"run": {"run", "study.yaml", "--yes", "--no-canary"}, "worker": {"worker"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := server.Database(t)
			g, through := newGate(t, db)
			s := newScene(t, "turns", "openai create stuck=1h once")
			s.db = db
			s.env["ASSAY_DB"] = db
			if name == "worker" {
				s.killedAt(Point{"ledger open run", 1, After})
			}
			s.env["ASSAY_DB"] = through
			c, err := s.start(t.Context(), nil, 0, command...)
			s.ok(err)
			// the stuck one, so that it is there when the clock moves
			for _, moment := range []string{"state = 'launched' AND provider = 'openai'", "state = 'settled'"} {
				s.until("SELECT 1 FROM segments WHERE " + moment)
				g.set(true)
				g.turnedAway(t, 3)
				g.set(false)
				s.control("POST", "/sim/clock", `{"advance":"2h"}`) // the stuck job goes on
			}
			if name == "worker" {
				s.ok(s.closed(t.Context()))
				_ = c.Process.Signal(syscall.SIGINT)
			}
			e, err := c.wait()
			s.ok(err)
			if e.code != 0 && (name != "worker" || e.code != 130) {
				t.Fatal(e)
			}
			s.whole()
		})
	}
}
