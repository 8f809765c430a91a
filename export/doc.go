// Package export writes the results of runs as files that other programs read, and reads such files back.
//
// There are our own tidy tables (CSV, JSON lines, parquet) and the trees of three older systems. Rows stream through; a
// file or a folder appears under its name only when it is whole. Text is foreign: a cell that a spreadsheet would take
// for a formula is marked, and reading takes the mark away again.
package export
