//go:build unix

package backup

import (
	"fmt"
	"os"
	"syscall"
)

// Identity returns what tells a file from its copies, which one that is only moved keeps; empty: it cannot be known.
func Identity(file string) string {
	info, err := os.Stat(file)
	if err != nil {
		return ""
	}
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprint("file ", s.Ino)
	}
	return ""
}
