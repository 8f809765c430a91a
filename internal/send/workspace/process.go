package workspace

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"assay/internal/keep/store"
)

// process is one that holds leases: HOST/PID/KERNEL, and after a dot what distinguishes holders in it. The kernel says which
// processes see each other under their numbers: machines, and containers, may share a name.
type process struct {
	host   string
	pid    int
	kernel string // empty: not known
}

func thisProcess() process {
	host, err := os.Hostname()
	if err != nil {
		host = "here"
	}
	return process{strings.ReplaceAll(host, "/", "_"), os.Getpid(), kernel()}
}

// String is who we are to other processes.
func (p process) String() string { return fmt.Sprintf("%s/%d/%s", p.host, p.pid, p.kernel) }

// parseProcess reads the process of a holder.
func parseProcess(holder string) (process, bool) {
	host, rest, _ := strings.Cut(holder, "/")
	number, rest, _ := strings.Cut(rest, "/")
	in, _, _ := strings.Cut(rest, ".")
	pid, err := strconv.Atoi(number)
	return process{host, pid, in}, err == nil
}

// holder is a name for one holder of leases in this process.
func (h *Home) holder() (string, error) {
	id, err := NewID()
	return thisProcess().String() + "." + id, err
}

// Gone reports whether a holder of leases was a process of this machine that has ended.
func (h *Home) Gone(holder string) bool {
	p, ok := parseProcess(holder)
	here := thisProcess()
	switch {
	case !ok || p.host != here.host:
		return false
	case h.Ledger.Postgres() && (p.kernel == "" || p.kernel != here.kernel): // a machine that only shares the name
		return false
	}
	return !alive(p.pid)
}

// ReleaseEnded releases at once what ended processes of this machine held of a run, so that it need not wait until their leases
// end. It returns those holders.
func (h *Home) ReleaseEnded(ctx context.Context, run store.Run) ([]string, error) {
	drivers, err := h.Ledger.Leases.Drivers(ctx, run.No)
	if err != nil {
		return nil, err
	}
	var gone []string
	for _, d := range drivers {
		if !h.Gone(d.Holder) {
			continue
		}
		if err := h.Ledger.Leases.ReleaseDead(ctx, d.Holder); err != nil {
			return gone, err
		}
		gone = append(gone, d.Holder)
	}
	return gone, nil
}
