package term

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// none is shown instead of a number that does not exist.
const none = "–"

// Number returns a number with so many digits behind the point.
func Number(n *float64, digits int) string {
	if n == nil {
		return none
	}
	return unsigned(fmt.Sprintf("%.*f", digits, *n))
}

// unsigned returns a number without the minus of one that rounds to 0.
func unsigned(text string) string {
	if rest, minus := strings.CutPrefix(text, "-"); minus && !strings.ContainsAny(rest, "123456789") {
		return rest
	}
	return text
}

// Percent returns a share of 1 in per cent.
func Percent(n *float64) string {
	if n == nil {
		return none
	}
	return unsigned(fmt.Sprintf("%.1f%%", 100**n))
}

// Duration returns a length of time in its largest unit.
func Duration(d time.Duration) string {
	switch {
	case d < time.Minute:
		return d.Round(time.Second).String()
	case d < 2*time.Hour:
		return fmt.Sprintf("%dm", int(math.Round(d.Minutes())))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(math.Round(d.Hours())))
	}
	return fmt.Sprintf("%dd", int(math.Round(d.Hours()/24)))
}
