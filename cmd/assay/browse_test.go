package main

import (
	"strings"
	"testing"
)

func TestEverySystemHasItsOpener(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ system, display, want string }{
		{"darwin", "", "open"}, {"windows", "", "rundll32 url.dll,FileProtocolHandler"}, {"linux", ":0", "xdg-open"},
		{"freebsd", ":1", "xdg-open"}, {"linux", "", ""},
	} {
		got, err := opener(c.system, func(name string) string {
			if name == "DISPLAY" {
				return c.display
			}
			return ""
		})
		if strings.Join(got, " ") != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s with display %q: %v, %v", c.system, c.display, got, err)
		}
	}
}
