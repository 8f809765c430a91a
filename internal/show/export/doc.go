// Package export is the port between runs and the files of other programs: what a format is, which run is written and
// where the rows go that are read.
//
// A format is one entry of formats.All: how runs are written in it, and how its files are read. To add one, write a file
// in package formats with its shapes, a writer that walks over the rows of package results and a reader that hands rows
// to a Sink, and add its entry; commands and their help use the list. A format of several files has a folder of its own,
// as inspect, pairwise, speceval and sycobench have.
//
// Rows stream through; a file or a folder appears under its name only when it is whole. Text is foreign: a cell that a
// spreadsheet would take for a formula is marked, and reading takes the mark away again.
package export
