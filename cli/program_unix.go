//go:build unix

package cli

import (
	"errors"
	"os/exec"
	"syscall"
)

// aloneInGroup gives a program a process group of its own, so that all it starts can be ended with it.
func aloneInGroup(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
}

// endGroup ends what a program started and left behind. That there is nothing left is the usual case.
func endGroup(c *exec.Cmd) { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }

// alive tells whether a process of this machine may be there; one that is somebody else's is.
func alive(pid int) bool { return pid <= 0 || !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
