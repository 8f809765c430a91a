package live

import (
	"testing"

	"assay/internal/assay"
	"assay/internal/send/ratelimit"
)

func TestWhatAFaultSaysAboutLimits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		fault assay.Fault
		want  ratelimit.Kind
	}{
		{"too many requests", assay.Fault{Class: assay.FaultBusy, Status: 429, Code: "rate_limit_exceeded"}, ratelimit.Throttled},
		{"no room in the flex tier, by its code", assay.Fault{Class: assay.FaultBusy, Status: 429, Code: "resource_unavailable"},
			ratelimit.Busy},
		{"no room in the flex tier, by its words",
			assay.Fault{Class: assay.FaultBusy, Status: 429, Message: "Resource unavailable, try later"}, ratelimit.Busy},
		{"no room in Groq's flex tier", assay.Fault{Class: assay.FaultBusy, Status: 498, Code: "flex_tier_capacity_exceeded"},
			ratelimit.Busy},
		{"overloaded", assay.Fault{Class: assay.FaultBusy, Status: 529}, ratelimit.Busy},
		{"a bad request", assay.Fault{Class: assay.FaultInvalid, Status: 400}, ratelimit.Unrelated},
	} {
		if got := kindOf(&c.fault); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
