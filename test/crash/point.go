package crash

import (
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// Moment is a moment of a call at which a process can be stopped.
type Moment string

// The moments of a ledger call, and those of a call to a provider.
const (
	Before   Moment = "before"   // nothing has happened yet
	After    Moment = "after"    // committed, and the caller does not know it
	Upload   Moment = "upload"   // half of the body is in flight
	Accepted Moment = "accepted" // the provider has answered, and no process has read it
	Download Moment = "download" // half of the answer is read
)

// Point is one moment in the life of a process: the n-th call of a name.
type Point struct {
	Call   string // such as "ledger intend" or "POST /openai/v1/batches"
	Nth    int    // from 1
	Moment Moment
}

// String returns the point as ParsePoint reads it.
func (p Point) String() string { return fmt.Sprintf("%s#%d %s", p.Call, p.Nth, p.Moment) }

// Class returns the point without its number: what is going on there.
func (p Point) Class() string { return p.Call + " " + string(p.Moment) }

// First returns the first moment of the same class.
func (p Point) First() Point { return Point{Call: p.Call, Nth: 1, Moment: p.Moment} }

// ParsePoint reads what String wrote.
func ParsePoint(text string) (Point, error) {
	call, rest, ok := strings.Cut(text, "#")
	number, moment, ok2 := strings.Cut(rest, " ")
	nth, err := strconv.Atoi(number)
	if !ok || !ok2 || err != nil {
		return Point{}, fmt.Errorf("point %q: want CALL#NTH MOMENT", text)
	}
	return Point{Call: call, Nth: nth, Moment: Moment(moment)}, nil
}

// fuse counts calls and ends the process, or stops it, when it comes to its point.
type fuse struct {
	at      Point          // the zero value: never
	signal  syscall.Signal // SIGKILL, SIGSTOP for a process that is to go on later, or SIGXFSZ: from here on the disk is full
	journal func(line string)

	mu    sync.Mutex
	calls map[string]int
}

// enter counts a call by its name and returns its number.
func (f *fuse) enter(call string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.calls == nil {
		f.calls = map[string]int{}
	}
	f.calls[call]++
	return f.calls[call]
}

// pass is one moment of a call. The process may not come out of it.
func (f *fuse) pass(call string, nth int, m Moment) {
	p := Point{Call: call, Nth: nth, Moment: m}
	f.journal(p.String())
	if p != f.at {
		return
	}
	f.begun()
	f.journal(burnt)
	if f.signal == syscall.SIGXFSZ {
		fillDisk()
		return
	}
	woken := make(chan os.Signal, 1)
	signal.Notify(woken, syscall.SIGCONT)
	_ = syscall.Kill(syscall.Getpid(), f.signal) // a process may always signal itself
	<-woken                                      // the signal may come a moment later: until then nothing goes on here
}

// begun journals the last call of every name: many are begun at once, and wait for each other to report that.
func (f *fuse) begun() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for call, n := range f.calls {
		f.journal(Point{Call: call, Nth: n, Moment: Before}.String())
	}
}

// fillDisk lets no file of this process grow any more. A pipe still takes what is written to it.
func fillDisk() {
	signal.Ignore(syscall.SIGXFSZ) // a write is to come back with an error
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{}); err != nil {
		panic(err)
	}
}

// burnt is the journal's line for a fuse that has gone off.
const burnt = "!"

// around is the fuse at the ledger, as store.Options.Around takes it.
func (f *fuse) around(op string, call func() error) error {
	name := "ledger " + op
	n := f.enter(name)
	f.pass(name, n, Before)
	err := call()
	if err == nil {
		f.pass(name, n, After)
	}
	return err
}
