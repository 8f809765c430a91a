// Package traffic watches the HTTP calls to providers: which of them answer, and what is sent and received, without what is secret.
package traffic

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"assay/internal/assay"
)

// Contact records which providers cannot be reached, so that a user who waits for answers knows why. The engine decides
// what to do about it. A nil one records nothing.
type Contact struct {
	now func() time.Time

	mu   sync.Mutex
	lost map[string]*outage // by provider; nothing: it answers, or was not called
}

// NewContact records by a clock.
func NewContact(now func() time.Time) *Contact { return &Contact{now: now} }

// outage is a time in which a provider did not answer at all.
type outage struct {
	since, last    time.Time
	why            string
	reported, over bool
}

// Outage is news of a provider: that it cannot be reached, or that it answers again.
type Outage struct {
	Provider string
	Since    time.Time
	Why      string
	Over     bool // it answers again
}

// String returns the news as a sentence.
func (o Outage) String() string {
	if o.Over {
		return o.Provider + " answers again"
	}
	return fmt.Sprintf("%s cannot be reached since %s: %s; it is tried again", o.Provider, o.Since.Local().Format(time.TimeOnly), o.Why)
}

// shortCut is how long a provider may be silent before it is news.
const shortCut = 10 * time.Second

// Around returns a transport whose calls record whether a provider answers.
func (c *Contact) Around(next http.RoundTripper, provider string) http.RoundTripper {
	if c == nil || next == nil {
		return next
	}
	return reaching{contact: c, next: next, provider: provider}
}

type reaching struct {
	contact  *Contact
	next     http.RoundTripper
	provider string
}

// RoundTrip makes the call unchanged.
func (r reaching) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := r.next.RoundTrip(req)
	if err == nil || !errors.Is(err, context.Canceled) {
		r.contact.note(r.provider, err)
	}
	return resp, err
}

func (c *Contact) note(provider string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := c.lost[provider]
	switch {
	case err == nil && o != nil:
		o.over = true
	case err != nil && (o == nil || o.over && !o.reported):
		if c.lost == nil {
			c.lost = map[string]*outage{}
		}
		c.lost[provider] = &outage{since: c.now(), last: c.now(), why: assay.Clean(err.Error(), 200)}
	case err != nil:
		o.last, o.why, o.over = c.now(), assay.Clean(err.Error(), 200), false
	}
}

// News returns the providers that went and came back since the last time.
func (c *Contact) News() []Outage {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var news []Outage
	for _, name := range slices.Sorted(maps.Keys(c.lost)) {
		o := c.lost[name]
		switch {
		case o.over:
			if o.reported {
				news = append(news, Outage{Provider: name, Since: o.since, Over: true})
			}
			delete(c.lost, name)
		case !o.reported && o.last.Sub(o.since) >= shortCut:
			o.reported = true
			news = append(news, Outage{Provider: name, Since: o.since, Why: o.why})
		}
	}
	return news
}
