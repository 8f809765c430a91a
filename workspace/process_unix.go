//go:build unix

package workspace

import (
	"errors"
	"syscall"
)

// alive reports whether a process of this machine may be running; one that we may not signal is.
func alive(pid int) bool { return pid <= 0 || !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
