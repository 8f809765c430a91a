//go:build unix

package program

import (
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
