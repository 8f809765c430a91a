// Package gather is the kit of collectors: names with dense numbers, narrow columns, groups by fields, shares and means with
// their errors, and lanes compared on the same items.
package gather

import "assay/internal/find/analysis"

// Collector gathers the rows of one analysis.
type Collector interface {
	Expect(r *analysis.Row)            // counts a place where the study wants a verdict
	Add(r *analysis.Row)               // enters a verdict; the row is not kept
	Tables() ([]analysis.Table, error) // computes the findings; what was gathered may be let go
}

// Job is one analysis to do.
type Job struct {
	Stage   *analysis.Stage
	Spec    analysis.Spec
	Options analysis.Options
	Known   *Names // items and clusters, for all analyses
}
