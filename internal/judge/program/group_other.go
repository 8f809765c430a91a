//go:build !unix

package program

import "os/exec"

// aloneInGroup does nothing where there are no process groups: the program itself is ended.
func aloneInGroup(*exec.Cmd) {}

// endGroup does nothing where there are no process groups.
func endGroup(*exec.Cmd) {}
