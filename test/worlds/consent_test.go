package worlds

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// quoted finds the most that a question names: that of "You pay now: $0.26 (at most $0.52) for 600 new requests".
var quoted = regexp.MustCompile(`(?m)^You pay now: \S+ \(at most \$([0-9.,]+)\)`)

// consented returns the most that the person has agreed to pay so far, in nano-dollars, and how many questions there were. What is
// printed is rounded: each counts with half a unit of its last digit more.
func (h *history) consented() (sum int64, questions int, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.said {
		for _, m := range quoted.FindAllStringSubmatch(s.err, -1) {
			text := strings.TrimRight(strings.ReplaceAll(m[1], ",", ""), ".")
			high, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return 0, 0, fmt.Errorf("the price in %q: %w", m[0], err)
			}
			half := 0.5
			if _, digits, ok := strings.Cut(text, "."); ok {
				for range digits {
					half /= 10
				}
			}
			sum += nano(high + half)
			questions++
		}
	}
	return sum, questions, nil
}

// checkConsent holds what was billed against what the person was told that it may cost: everything that is sent is part of something that
// was asked about. What is in doubt, or reported as paid twice, nobody could name before.
func (h *history) checkConsent(ctx context.Context, all []runState, b bill) error {
	for _, r := range all {
		if r.Doubts > 0 || len(r.Doubles) > 0 || r.Perhaps+r.Unpriced > 0 {
			return nil
		}
		for _, l := range r.Lanes {
			if l.Surplus > 0 {
				return nil
			}
		}
	}
	most, questions, err := h.consented()
	if err != nil || h.back || questions == 0 {
		return err
	}
	if b.sum > most {
		return breaks(L4, h.statuses(ctx, all), fmt.Sprintf("at most %d nano-dollars are billed, as %d questions named", most, questions),
			"%d", b.sum)
	}
	return nil
}
