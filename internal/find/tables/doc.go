// Package tables reads tables of comparisons, labels and answers, and computes statistics of them: a ranking, how far
// raters agree, and shares of yes.
//
// It streams: a table of any length takes the memory of its distinct names and of what the caller asks to keep. Nothing
// is allocated for a row. What is wrong with a table is returned as assay.Problems, each with its line.
package tables
