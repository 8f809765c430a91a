package store

// DumpTables lists the tables that hold what is known of one run's results, in the order in which they can be written into
// an empty ledger. How it was sent, and by whom, is not among them.
func DumpTables() []string {
	return []string{"runs", "snapshot_parts", "items", "lanes", "groups", "segments", "orders", "redos", "decisions", "looks", "attempts",
		"outcomes", "verdicts", "comments"}
}

// DumpRow is one row of a table: a value of type nil, int64, float64, string or []byte for every column.
type DumpRow struct {
	Columns []string // the same for all rows of a table
	Values  []any
}
