package workspace

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"assay/store"
)

// holderName is who we are to other processes.
func holderName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "here"
	}
	return fmt.Sprintf("%s/%d", host, os.Getpid())
}

// holder is a name for one holder of leases in this process.
func (h *Home) holder() (string, error) {
	id, err := NewID()
	return holderName() + "/" + id, err
}

// Gone reports whether a holder of leases was a process of this machine that has ended.
func (h *Home) Gone(holder string) bool {
	if h.Ledger.Postgres() { // whose workers may be on machines that only share a name
		return false
	}
	here, _, _ := strings.Cut(holderName(), "/")
	host, rest, _ := strings.Cut(holder, "/")
	number, _, _ := strings.Cut(rest, "/")
	pid, err := strconv.Atoi(number)
	return err == nil && host == here && !alive(pid)
}

// TakeOver releases at once what ended processes of this machine held of a run, so that it need not wait until their leases
// end. It returns those holders.
func (h *Home) TakeOver(ctx context.Context, run store.Run) ([]string, error) {
	drivers, err := h.Ledger.Drivers(ctx, run.No)
	if err != nil {
		return nil, err
	}
	var gone []string
	for _, d := range drivers {
		if !h.Gone(d.Holder) {
			continue
		}
		if err := h.Ledger.ReleaseDead(ctx, run.No, d.Holder); err != nil {
			return gone, err
		}
		gone = append(gone, d.Holder)
	}
	return gone, nil
}
