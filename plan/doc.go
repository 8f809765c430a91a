// Package plan says everything that a study may send, priced, before anything is sent.
//
// The first wave is exact: every request is rendered and encoded, so that counts, bytes and segments are those that will
// go out. Later waves hang on answers nobody has yet: they are counted (at most) and estimated.
package plan
