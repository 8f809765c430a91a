package cli_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/internal/show/cli"
)

func TestABrowserIsHandedAFileOfTheUsersOwn(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var file, page string
	var mode, folder os.FileMode
	out := &lines{}
	w := worldIn(t.TempDir(), out, io.Discard, "view", "--listen", "127.0.0.1:0", "--open")
	w.Browse = func(path string) error {
		file = path
		text, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
		}
		page = string(text)
		for name, into := range map[string]*os.FileMode{path: &mode, filepath.Dir(path): &folder} {
			if info, err := os.Stat(name); err != nil {
				t.Error(err)
			} else {
				*into = info.Mode().Perm()
			}
		}
		stop()
		return nil
	}
	cli.Main(ctx, w)
	address, _, _ := strings.Cut(out.text, "\n")
	_, token, _ := strings.Cut(address, "token=")
	if token == "" || !strings.Contains(page, `content="0; url=`+address+`"`) || strings.Contains(file, token) {
		t.Errorf("%s leads to %s; the address is %s", file, page, address)
	}
	if mode != 0o600 || folder != 0o700 {
		t.Errorf("the file is %o in a folder %o", mode, folder)
	}
	if _, err := os.Stat(filepath.Dir(file)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is left behind: %v", err)
	}
}

func TestWithoutABrowserTheAddressIsStillThere(t *testing.T) {
	t.Parallel()
	for _, browser := range []func(string) error{nil, func(string) error { return errors.New("there is no display") }} {
		ctx, stop := context.WithCancel(context.Background())
		var said bytes.Buffer
		w := worldIn(t.TempDir(), io.Discard, writerFunc(func(p []byte) (int, error) {
			if said.Write(p); strings.Contains(said.String(), "no browser was opened") {
				stop()
			}
			return len(p), nil
		}), "view", "--listen", "127.0.0.1:0", "--open")
		w.Browse = browser
		cli.Main(ctx, w)
		stop()
		if !strings.Contains(said.String(), "): open the first address yourself") {
			t.Errorf("said: %s", said.String())
		}
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
