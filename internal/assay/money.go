package assay

import (
	"fmt"
	"math"
	"math/bits"
	"regexp"
	"strconv"
	"strings"
)

// Money is an amount of US dollars in nanodollars, so that sums are exact.
type Money int64

// Dollar is one US dollar.
const Dollar Money = 1_000_000_000

// Dollars rounds an amount in dollars to nanodollars.
func Dollars(d float64) Money { return Money(math.Round(d * float64(Dollar))) }

// Float returns the amount in dollars, for programs that read JSON.
func (m Money) Float() float64 { return float64(m) / float64(Dollar) }

// Share returns m · some / of, rounded down: the cost of some requests where of requests cost m. Some may exceed of. A result
// that overflows is the largest amount.
func (m Money) Share(some, of int64) Money {
	if m < 0 {
		return -(-m).Share(some, of)
	}
	if m == 0 || some <= 0 || of <= 0 {
		return 0
	}
	high, low := bits.Mul64(uint64(m), uint64(some))
	if high >= uint64(of) {
		return math.MaxInt64
	}
	n, _ := bits.Div64(high, low, uint64(of))
	return Money(min(n, math.MaxInt64))
}

// String shows cents, and more digits where the amount is below ten cents.
func (m Money) String() string {
	sign := ""
	if m < 0 {
		sign, m = "-", -m
	}
	digits := 2
	switch {
	case m == 0:
	case m < Dollar/1_000_000: // what is not nothing does not look like nothing
		digits = 9
	case m < Dollar/1000:
		digits = 6
	case m < Dollar/10:
		digits = 4
	}
	text := strconv.FormatFloat(m.Float(), 'f', digits, 64)
	if whole, cents, _ := strings.Cut(text, "."); len(whole) > 3 {
		if n, err := strconv.ParseInt(whole, 10, 64); err == nil {
			text = Thousands(n) + "." + cents
		}
	}
	return sign + "$" + text
}

// grouped is an amount as String shows it.
var grouped = regexp.MustCompile(`^[0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?$`)

// ParseMoney reads an amount as a study writes it: "40 USD", "$40" or "40"; "1,200" has a thousand in it.
func ParseMoney(s string) (Money, error) {
	t := strings.TrimSpace(s)
	t = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(t, "$"), "USD"))
	if grouped.MatchString(t) {
		t = strings.ReplaceAll(t, ",", "")
	}
	d, err := strconv.ParseFloat(t, 64)
	if err != nil || !(d >= 0 && d <= 1e9) {
		return 0, fmt.Errorf("amount %q: want dollars, such as 40 USD", s)
	}
	return Dollars(d), nil
}

// Cost is a sum of which some parts may have no known price. Unknown is never shown as 0.
type Cost struct {
	Sum     Money // of the parts whose price is known
	Priced  int64 // how many parts that is
	Unknown int64 // how many parts have no known price
}

// Add sums two costs.
func (c Cost) Add(d Cost) Cost {
	return Cost{Sum: c.Sum + d.Sum, Priced: c.Priced + d.Priced, Unknown: c.Unknown + d.Unknown}
}

// Known reports whether every part has a price.
func (c Cost) Known() bool { return c.Unknown == 0 }

// Dollars returns the cost in dollars; nil where a part has no price.
func (c Cost) Dollars() *float64 {
	if !c.Known() {
		return nil
	}
	return new(c.Sum.Float())
}

// Spent formats the amount spent; "unknown" if it is not known.
func (c Cost) Spent() string {
	if c.Unknown > 0 && c.Priced == 0 {
		return "cost unknown"
	}
	return c.String() + " spent"
}

// WouldBe formats the amount that would have been spent if nothing was.
func (c Cost) WouldBe() string {
	if c.Unknown > 0 && c.Priced == 0 {
		return "nothing spent, and what it would have cost is unknown"
	}
	return "nothing spent; it would have cost " + c.String()
}

// String formats the cost, with "unknown" or "at least" where parts have no price.
func (c Cost) String() string {
	switch {
	case c.Unknown == 0:
		return c.Sum.String()
	case c.Priced == 0:
		return "unknown"
	}
	return "at least " + c.Sum.String()
}
