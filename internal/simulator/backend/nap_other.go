//go:build !linux

package backend

import "time"

// timerSlack is how late a timer may be.
const timerSlack = 0

func nap(time.Duration) {}
