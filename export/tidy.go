package export

import "assay/results"

// The rows of tables are those of package results.
type (
	// Request is one row of the table of requests.
	Request = results.Answer
	// Said is a verdict inside the row of the answer it is about.
	Said = results.Said
	// Verdict is one row of the table of verdicts.
	Verdict = results.Verdict
	// Item is one row of the table of items.
	Item = results.Item
	// Raw is a JSON value inside a row.
	Raw = results.Raw
)

// Unasked is the ending of a question that was never sent.
const Unasked = results.Unasked
