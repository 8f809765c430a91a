package shell

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"
	"testing"
)

// TestATornConnectionIsCalledSo: all that a driver says of it may be "unexpected EOF".
func TestATornConnectionIsCalledSo(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"assay: the connection to PostgreSQL was lost: read lanes: unexpected EOF (type the same command again: what was begun goes on, " +
			"and nothing is asked twice)\n": fmt.Errorf("read lanes: %w", io.ErrUnexpectedEOF),
		"assay: Get \"http://a\": EOF\n": &url.Error{Op: "Get", URL: "http://a", Err: io.EOF},
		"assay: no such stage (fine)\n":  &ExitError{Code: ExitUsage, Err: errors.New("no such stage"), Hint: "fine"},
	} {
		var said bytes.Buffer
		Complain(&World{Stderr: &said, torn: func(error) bool { return true }}, err)
		if said.String() != want {
			t.Errorf("%v: %q, want %q", err, said.String(), want)
		}
	}
}
