//go:build !linux

package pgtest

import "os/exec"

func dieWithParent(*exec.Cmd) {}

func runAs(*exec.Cmd, int, int) {}
