package backend

import (
	"syscall"
	"time"
)

// timerSlack is how late a timer may be: the runtime waits in whole milliseconds.
const timerSlack = time.Millisecond

// nap sleeps to the microsecond.
func nap(d time.Duration) {
	if d > 0 {
		rest := syscall.NsecToTimespec(int64(d))
		_ = syscall.Nanosleep(&rest, nil) // a signal may end it early
	}
}
