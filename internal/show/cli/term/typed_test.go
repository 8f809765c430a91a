package term

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestAPromptEndsWithTheContext(t *testing.T) {
	t.Parallel()
	silent, writer := io.Pipe()
	defer writer.Close()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := bufio.NewReader(&Typed{Context: ctx, From: silent}).ReadString('\n'); !errors.Is(err, context.Canceled) {
		t.Errorf("nobody types, and the context has ended: %v", err)
	}
	line, err := bufio.NewReader(&Typed{Context: t.Context(), From: strings.NewReader("yes\nno\n")}).ReadString('\n')
	if line != "yes\n" || err != nil {
		t.Errorf("%q, %v", line, err)
	}
}
