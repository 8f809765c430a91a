// Package export writes the results of runs as files that other programs read, and reads such files back.
//
// A format is one entry of Formats: how runs are written in it, and how its files are read. There are our own tables (CSV,
// JSON lines, parquet) and the trees of three older systems; a bundle is one run in one file that gives the same digits
// anywhere. To add a format, write a file with its shapes, a writer that walks over the rows of package results and a reader
// that hands rows to a Sink, and add its entry; the commands and their help take it from there.
//
// Rows stream through; a file or a folder appears under its name only when it is whole. Text is foreign: a cell that a
// spreadsheet would take for a formula is marked, and reading takes the mark away again.
package export
