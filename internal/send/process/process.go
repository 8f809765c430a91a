// Package process names processes that hold leases, and finds out which of them have ended.
package process

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Process is one that holds leases: HOST/PID/KERNEL, and after a dot what distinguishes holders in it. The kernel shows
// which processes see each other under their numbers: machines, and containers, may share a name.
type Process struct {
	host   string
	pid    int
	kernel string // empty: not known
}

// This returns the process that we are.
func This() Process {
	host, err := os.Hostname()
	if err != nil {
		host = "here"
	}
	return Process{strings.ReplaceAll(host, "/", "_"), os.Getpid(), kernel()}
}

// String returns who we are to other processes.
func (p Process) String() string { return fmt.Sprintf("%s/%d/%s", p.host, p.pid, p.kernel) }

// Parse reads the process of a holder.
func Parse(holder string) (Process, bool) {
	host, rest, _ := strings.Cut(holder, "/")
	number, rest, _ := strings.Cut(rest, "/")
	in, _, _ := strings.Cut(rest, ".")
	pid, err := strconv.Atoi(number)
	return Process{host, pid, in}, err == nil
}

// Among is who may hold leases of a ledger.
type Among int

// Processes of one machine, or of several, of which some may share a name.
const (
	OneMachine Among = iota
	Machines
)

// Ended reports whether a holder of leases was a process of this machine that has ended.
func Ended(holder string, among Among) bool {
	p, ok := Parse(holder)
	here := This()
	switch {
	case !ok || p.host != here.host:
		return false
	case among == Machines && (p.kernel == "" || p.kernel != here.kernel): // a machine that only shares the name
		return false
	}
	return !alive(p.pid)
}
