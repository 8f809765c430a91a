package live

import "testing"

func TestLargeRequestsAreBuiltAFewAtATime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ bytes, page, want int }{
		{10 << 10, 128, 102}, // a megabyte
		{100, 128, 256},      // twice as many as before
		{100, mostPage, mostPage},
		{50 << 20, 3, 1},
	} {
		if got := nextPage(c.page, c.page*c.bytes); got != c.want {
			t.Errorf("after a page of %d requests of %d bytes come %d, want %d", c.page, c.bytes, got, c.want)
		}
	}
}
