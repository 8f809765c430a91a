package assay_test

import (
	"math"
	"testing"

	"assay/internal/assay"
)

func TestAmountsReadAsAPersonWouldWriteThem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		cost assay.Cost
		want string
	}{
		{assay.Cost{Sum: 40 * assay.Dollar, Priced: 1}, "$40.00"},
		{assay.Cost{Sum: assay.Dollars(1329.15), Priced: 1}, "$1,329.15"},
		{assay.Cost{Sum: 2000*assay.Dollar - 1, Priced: 1}, "$2,000.00"},
		{assay.Cost{Sum: -1234567 * assay.Dollar, Priced: 1}, "-$1,234,567.00"},
		{assay.Cost{Sum: assay.Dollars(0.0123), Priced: 1}, "$0.0123"},
		{assay.Cost{Sum: assay.Dollars(0.000123), Priced: 1}, "$0.000123"},
		{assay.Cost{Sum: assay.Money(400), Priced: 1}, "$0.000000400"},
		{assay.Cost{}, "$0.00"},
		{assay.Cost{Unknown: 3}, "unknown"},
		{assay.Cost{Sum: assay.Dollar, Priced: 1, Unknown: 3}, "at least $1.00"},
		{assay.Cost{Sum: -assay.Dollar, Priced: 1}, "-$1.00"},
	} {
		if got := c.cost.String(); got != c.want {
			t.Errorf("%+v shows %q, want %q", c.cost, got, c.want)
		}
	}
}

func TestParseMoneyTakesDollarsOnly(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]assay.Money{"40 USD": 40 * assay.Dollar, "$0.5": assay.Dollar / 2, "7": 7 * assay.Dollar, "0": 0,
		"$1,200": 1200 * assay.Dollar, "1,234,567.5 USD": 1_234_567*assay.Dollar + assay.Dollar/2} {
		if got, err := assay.ParseMoney(in); err != nil || got != want {
			t.Errorf("ParseMoney(%q) = %d, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "-1", "40 EUR", "1,5", "1,2000", ",100", "much", "1e300", "NaN"} {
		if got, err := assay.ParseMoney(in); err == nil {
			t.Errorf("ParseMoney(%q) = %s, want an error", in, got)
		}
	}
}

func TestAPortionOfALotOfMoneyIsExact(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		m        assay.Money
		some, of int64
		want     assay.Money
	}{
		{10_000 * assay.Dollar, 1_000_000, 500_000, 20_000 * assay.Dollar},
		{10_000 * assay.Dollar, 999_999, 1_000_000, 9_999_990_000_000},
		{7, 1, 2, 3},
		{-7, 1, 2, -3},
		{assay.Dollar, 3, 0, 0},
		{10_000 * assay.Dollar, 1_000_000, 1, math.MaxInt64},
		{assay.Dollar, math.MaxInt64, 1, math.MaxInt64},
	} {
		if got := c.m.Share(c.some, c.of); got != c.want {
			t.Errorf("%d of %d of %d: %d, want %d", c.some, c.of, c.m, got, c.want)
		}
	}
}
