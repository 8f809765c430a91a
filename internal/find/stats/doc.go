// Package stats turns counts and scores into estimates that carry their error, or say why they do not exist.
//
// Every function is pure: it reads what it is given, takes its randomness as a seed, and gives the same numbers for any
// GOMAXPROCS. A value that cannot be known is never 0, never NaN: it is a [Number] or an [Interval] whose Why says the
// reason, or an error. Strengths are on the natural-log scale with mean 0.
//
// Items, clusters, judges and categories are dense indexes from 0; the caller keeps the names.
package stats
