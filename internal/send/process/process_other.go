//go:build !unix

package process

// alive reports whether a process of this machine may be running: it cannot be known here.
func alive(int) bool { return true }

// kernel names the kernel that processes share: it cannot be known here.
func kernel() string { return "" }

// Files returns how many files and connections this process may have open, at most most: it cannot be known here.
func Files(most int) int { return most }
