// Package tables reads tables of votes, labels and answers into columns of small integers.
//
// It streams: a table of any length takes the memory of its distinct names and of what the caller asks to keep. Nothing is
// allocated for a row. What is wrong with a table is told as assay.Problems, each with its line.
package tables
