//go:build unix

package process

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"syscall"
)

// alive reports whether a process of this machine may be running; one that we may not signal is. One that has ended and was
// not waited for by its parent is not: containers without an init keep it for ever.
func alive(pid int) bool {
	if pid <= 0 {
		return true
	}
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true // no such file system here
	}
	_, after, ok := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" ")) // the name before it may hold anything
	return !ok || len(after) == 0 || after[0] != 'Z' && after[0] != 'X'
}

// kernel names the kernel since its start, and the space of process numbers in it; empty: it cannot be known here.
func kernel() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	sum := sha256.Sum256([]byte(string(boot) + space))
	return hex.EncodeToString(sum[:5])
}

// Files returns how many files and connections this process may have open, at most most.
func Files(most int) int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || uint64(limit.Cur) > uint64(most) {
		return most
	}
	return int(limit.Cur)
}
