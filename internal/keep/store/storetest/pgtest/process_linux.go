package pgtest

import (
	"os/exec"
	"syscall"
)

func dieWithParent(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT} }

func runAs(c *exec.Cmd, uid, gid int) {
	c.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}
