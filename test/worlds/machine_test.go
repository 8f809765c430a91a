package worlds

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"assay/internal/send/engine"
	"assay/internal/send/process"
	"assay/internal/simulator/dice"
)

// machine is a computer in a bubble of time. Whatever its processes do to the ledger, to files or to providers is a step, and steps
// are taken one at a time: when every goroutine waits, one of the steps that wait is chosen by the seed. So the same seed
// gives the same order however busy the real machine is.
type machine struct {
	seed  uint64
	dir   string        // the folder of artifacts, for what a loss of power takes away
	book  string        // the ledger, likewise
	wake  chan struct{} // holds one when a step has come
	ended chan struct{}
	note  func(line string)
	links *connections

	buffer []byte // for copies of the ledger

	mu        sync.Mutex
	waiting   []*step
	taken     uint64
	processes []*proc
	outages   int
	risk      bool             // one of the processes is to lose the power
	off       bool             // the power is away
	unsynced  map[string]int64 // sizes of files at their last sync, of those that were written since
	synced    map[string]int64
}

// step is something that a process is about to do.
type step struct {
	by   *proc
	name string
	who  uint64             // the goroutine, once it was asked: those of equal steps go in the order in which they were made
	turn chan chan<- uint64 // closed when it may go; a goroutine is asked for its number through it
}

// asked returns the number of the goroutine that waits.
func (s *step) asked() uint64 {
	if s.who == 0 {
		reply := make(chan uint64)
		s.turn <- reply
		s.who = <-reply
	}
	return s.who
}

// goroutine returns the number of the calling goroutine.
func goroutine() uint64 {
	var buf [40]byte
	text := strings.TrimPrefix(string(buf[:runtime.Stack(buf[:], false)]), "goroutine ")
	number, _, _ := strings.Cut(text, " ")
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

func newMachine(seed uint64, home string, links *connections, note func(string)) *machine {
	m := &machine{seed: seed, links: links, dir: filepath.Join(home, "runs"), book: filepath.Join(home, "ledger.db"), note: note,
		wake: make(chan struct{}, 1), ended: make(chan struct{}), unsynced: map[string]int64{}, synced: map[string]int64{}}
	go m.schedule()
	return m
}

// close ends the machine; nothing may be running on it.
func (m *machine) close() { close(m.ended) }

// schedule lets steps go, one by one.
func (m *machine) schedule() {
	for {
		select {
		case <-m.ended:
			return
		case <-m.wake:
		}
		for {
			synctest.Wait()
			s := m.choose()
			if s == nil {
				break
			}
			close(s.turn)
		}
	}
}

// choose takes one of the steps that wait; nil: none does.
func (m *machine) choose() *step {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.waiting) == 0 {
		return nil
	}
	slices.SortStableFunc(m.waiting, func(a, b *step) int {
		if a.by.pid != b.by.pid {
			return a.by.pid - b.by.pid
		}
		if a.name != b.name {
			return strings.Compare(a.name, b.name)
		}
		return cmp.Compare(a.asked(), b.asked())
	})
	i := int(dice.Mix(m.seed^dice.Mix(m.taken)) % uint64(len(m.waiting)))
	m.taken++
	s := m.waiting[i]
	m.waiting = slices.Delete(m.waiting, i, i+1)
	return s
}

// proc is one process of the program.
type proc struct {
	m    *machine
	pid  int
	stop context.CancelCauseFunc
	end  ending

	mu    sync.Mutex
	steps int // of those that its ending counts
	taken int // all
	dead  bool
	over  bool      // it has ended by itself
	until time.Time // it pauses until then
	hit   string
}

// ending is what happens to a process at one of its steps.
type ending struct {
	How howEnds
	At  int    // moments: each step has one before and one after it
	On  string // only those of steps whose names begin so are counted; empty: all
}

type howEnds string

const (
	kill      howEnds = "kill"      // SIGKILL: what it did is done, and it does nothing more
	power     howEnds = "power"     // every process ends, and files lose what was not synced
	interrupt howEnds = "interrupt" // Ctrl-C
	pause     howEnds = "pause"     // it does nothing for a while, as on a laptop that is closed, and goes on
	full      howEnds = "full"      // the disk takes no more bytes of files, until the process has ended
)

// asleep is how long a process pauses: longer than any lease.
const asleep = 20 * time.Minute

var errCircle = errors.New("worlds: this process takes too many steps")

var errKilled = errors.New("worlds: this process is dead")

// start begins a process under a context of its own.
func (m *machine) start(ctx context.Context, end ending) (context.Context, *proc) {
	ctx, stop := context.WithCancelCause(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	p := &proc{m: m, pid: 1000 + len(m.processes), stop: stop, end: end}
	m.processes = append(m.processes, p)
	m.risk = m.risk || end.How == power
	return ctx, p
}

// finish notes that a process has ended.
func (p *proc) finish() {
	p.mu.Lock()
	p.over = true
	p.mu.Unlock()
	p.stop(nil)
}

func (p *proc) isDead() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dead
}

// gone reports whether the process of a holder has ended.
func (m *machine) gone(holder string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.processes {
		if strings.HasPrefix(holder, p.name()+"/") {
			p.mu.Lock()
			defer p.mu.Unlock()
			return p.dead || p.over
		}
	}
	return true
}

func (p *proc) name() string { return fmt.Sprintf("machine/%d", p.pid) }

func (p *proc) self() process.Process {
	me, ok := process.Parse(p.name() + "/kernel")
	if !ok {
		panic("worlds: a process has no name")
	}
	return me
}

// do takes a step when its turn comes. A process may end before or after it.
func (p *proc) do(name string, call func() error) error {
	if p.isDead() {
		return errKilled
	}
	for p.queue(name); p.pauses(); p.queue(name) {
		time.Sleep(time.Until(p.until))
	}
	return p.take(name, call)
}

// queue waits for the turn of a step.
func (p *proc) queue(name string) {
	s := &step{by: p, name: name, turn: make(chan chan<- uint64)}
	p.m.mu.Lock()
	p.m.waiting = append(p.m.waiting, s)
	p.m.mu.Unlock()
	select {
	case p.m.wake <- struct{}{}:
	default:
	}
	for reply := range s.turn {
		reply <- goroutine()
	}
}

// sleep waits, and for as long as the process pauses then.
func (p *proc) sleep(ctx context.Context, d time.Duration) error {
	err := engine.WallClock().Sleep(ctx, d)
	for err == nil && p.pauses() {
		err = engine.WallClock().Sleep(ctx, time.Until(p.until))
	}
	return err
}

func (p *proc) pauses() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.dead && time.Now().Before(p.until)
}

// take takes a step, unless the process ends before it.
func (p *proc) take(name string, call func() error) error {
	if err := p.moment(name, "before"); err != nil {
		return err
	}
	p.m.note(fmt.Sprintf("%d %s", p.pid, name))
	p.counts()
	if err := call(); err != nil {
		if p.isDead() {
			return errKilled
		}
		return err
	}
	return p.moment(name, "after")
}

// mostSteps is how many steps one command may take: it goes in a circle, or asks more often than anything changes. The longest of
// 140 worlds took 1,465.
const mostSteps = 100_000

// counts ends a process that does not come to its end.
func (p *proc) counts() {
	p.mu.Lock()
	p.taken++
	over := p.taken == mostSteps
	p.mu.Unlock()
	if over {
		p.stop(errCircle)
	}
}

// circles reports whether a process took too many steps.
func (p *proc) circles() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.taken >= mostSteps
}

// moment counts on, and ends the process if it was its last.
func (p *proc) moment(name, when string) error {
	p.mu.Lock()
	if p.dead {
		p.mu.Unlock()
		return errKilled
	}
	counts := strings.HasPrefix(name, p.end.On)
	if counts {
		p.steps++
	}
	at := counts && p.end.How != "" && p.steps == p.end.At
	if at {
		p.hit = when + " " + name
		p.dead = p.end.How == kill || p.end.How == power
		if p.end.How == pause {
			p.until = time.Now().Add(asleep)
		}
	}
	p.mu.Unlock()
	if !at {
		return nil
	}
	p.m.note(fmt.Sprintf("%d %s %s", p.pid, p.end.How, p.hit))
	if p.end.How == pause || p.end.How == full {
		return nil
	}
	p.stop(context.Canceled)
	switch p.end.How {
	case interrupt:
		return nil
	case power:
		p.m.outage()
	}
	return errKilled
}

// outage ends all processes.
func (m *machine) outage() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.off = true
	for _, p := range m.processes {
		p.mu.Lock()
		p.dead = p.dead || !p.over
		p.mu.Unlock()
		p.stop(context.Canceled)
	}
}

// boot names the machine since it had no power.
func (m *machine) boot() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return fmt.Sprintf("boot-%d", m.outages)
}

// generic returns a name without the random parts in it, so that the same step has the same name whenever it is taken.
func generic(name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		letters := strings.Trim(part, "abcdefghijklmnopqrstuvwxyz-.:") == ""
		if len(part) > 9 && !letters || len(part) == 10 && i == 0 {
			parts[i] = "*"
		}
	}
	return strings.Join(parts, "/")
}
