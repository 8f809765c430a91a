// Package tokens counts the tokens of a text in o200k, the encoding of OpenAI's current models.
//
// The counts are those of the tiktoken modules; the vocabulary is a table in the binary, which is looked up where it
// lies. A module would do as well, but carries every vocabulary it knows as Go maps: 11 MB of the binary and 20 MB of memory.
package tokens
