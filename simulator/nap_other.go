//go:build !linux

package simulator

import "time"

// timerSlack is how late a timer may be.
const timerSlack = 0

func nap(time.Duration) {}
