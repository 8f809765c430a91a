// Package plan says everything that a study may send, priced, before anything is sent.
//
// The first wave is exact: every request is rendered and encoded, so that counts, bytes and segments are those that will
// go out. Later waves depend on answers that do not exist yet: they are counted (at most) and estimated.
package plan
