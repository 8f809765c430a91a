//go:build unix

package provider

import (
	"net/http"
	"syscall"
	"testing"
)

// TestConnectionsThatAreKeptLeaveRoomForFiles lowers how many files the process may have open. It is alone: others open some.
func TestConnectionsThatAreKeptLeaveRoomForFiles(t *testing.T) {
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	low := was
	low.Cur = 200
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &low); err != nil {
		t.Fatal(err)
	}
	kept := NewTransport().(*http.Transport).MaxIdleConnsPerHost
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	if kept != 50 {
		t.Errorf("%d connections are kept open where 200 files may be", kept)
	}
}
