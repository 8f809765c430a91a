package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"assay"
)

// contact knows which providers cannot be reached, so that whoever waits for answers is told what for. What is done about it
// is the engine's business.
type contact struct {
	now func() time.Time

	mu   sync.Mutex
	lost map[string]*outage // by provider; nothing: it answers, or was not called
}

// outage is a time in which a provider did not answer at all.
type outage struct {
	since, last time.Time
	why         string
	told, over  bool
}

// shortCut is how long a provider may be silent before anything is said of it.
const shortCut = 10 * time.Second

// around is a transport whose calls tell whether a provider answers.
func (c *contact) around(next http.RoundTripper, provider string) http.RoundTripper {
	if c == nil || next == nil {
		return next
	}
	return reaching{contact: c, next: next, provider: provider}
}

type reaching struct {
	contact  *contact
	next     http.RoundTripper
	provider string
}

// RoundTrip makes the call as it is.
func (r reaching) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := r.next.RoundTrip(req)
	if err == nil || !errors.Is(err, context.Canceled) {
		r.contact.note(r.provider, err)
	}
	return resp, err
}

func (c *contact) note(provider string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := c.lost[provider]
	switch {
	case err == nil && o != nil:
		o.over = true
	case err != nil && (o == nil || o.over && !o.told):
		if c.lost == nil {
			c.lost = map[string]*outage{}
		}
		c.lost[provider] = &outage{since: c.now(), last: c.now(), why: assay.Clean(err.Error(), 200)}
	case err != nil:
		o.last, o.why, o.over = c.now(), assay.Clean(err.Error(), 200), false
	}
}

// news are lines about providers that went and came back since the last time.
func (c *contact) news() []string {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(c.lost)) {
		o := c.lost[name]
		switch {
		case o.over:
			if o.told {
				lines = append(lines, name+" answers again")
			}
			delete(c.lost, name)
		case !o.told && o.last.Sub(o.since) >= shortCut:
			o.told = true
			lines = append(lines, fmt.Sprintf("%s cannot be reached since %s: %s; it is tried again", name, o.since.Local().Format(time.TimeOnly), o.why))
		}
	}
	return lines
}
