//go:build !unix

package cli

// alive reports whether a process of this machine may be running: it cannot be known here.
func alive(int) bool { return true }
