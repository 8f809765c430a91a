package study

import (
	"bytes"
	_ "embed" // the schema
	"encoding/json"
	"fmt"
)

//go:embed schema.json
var schema []byte

// Schema returns the JSON Schema of a study file. A test makes it from the types that read one.
func Schema() ([]byte, error) { return indented(schema) }

// indented is JSON for people.
func indented(text []byte) ([]byte, error) {
	var out bytes.Buffer
	if err := json.Indent(&out, text, "", "  "); err != nil {
		return nil, fmt.Errorf("write the schema of a study: %w", err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}
