package worlds

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

var (
	count = flag.Int("worlds", 200, "how many worlds are played")
	first = flag.Uint64("seed", 1, "the first seed")
)

// control makes a call to the simulator itself.
func (h *history) control(ctx context.Context, method, path string) error {
	req, err := http.NewRequestWithContext(ctx, method, "http://simulator.invalid"+path, nil)
	if err != nil {
		return err
	}
	resp, err := h.sim.Transport().RoundTrip(req)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// outcome is how a world went.
type outcome struct {
	err   error
	trace []string
	said  []saying
}

// Play plays a world in a bubble of its own.
func Play(t *testing.T, w World) (o outcome) {
	dir, err := os.MkdirTemp("/dev/shm", "world-")
	if err != nil {
		dir = t.TempDir()
	}
	defer os.RemoveAll(dir)
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(virtual()))
		h, err := newHistory(t, w, dir)
		if err != nil {
			t.Fatal(err)
		}
		ctx := context.Background()
		for _, step := range []func(context.Context) error{h.play, h.settle, h.readAll, h.judgeWorld} {
			if o.err = step(ctx); o.err != nil {
				break
			}
		}
		if err := h.close(); err != nil {
			t.Error(err)
		}
		o.trace, o.said = h.trace, h.said
	})
	return o
}

func TestWorlds(t *testing.T) {
	for i := range *count {
		seed := *first + uint64(i)
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := Make(seed)
			o := Play(t, w)
			if o.err != nil {
				var said strings.Builder
				for _, s := range o.said {
					if testing.Verbose() {
						fmt.Fprintln(&said, s)
					}
				}
				t.Errorf("world %d\n%s\n\n%s\n%s", seed, w, o.err, said.String())
			}
		})
	}
}
