// Package notify lets people elsewhere know that something happened to a run.
package notify

import (
	"context"
	"errors"
	"fmt"
	neturl "net/url"
	"regexp"
	"strings"
	"time"

	"github.com/nicholas-fedor/shoutrrr"

	"assay/internal/assay"
)

// timeout bounds one notification.
const timeout = 15 * time.Second

// Send sends a message to every URL. The URLs hold secrets: errors name the service and nothing else of them.
func Send(ctx context.Context, urls []string, message string) error {
	var failed []error
	for _, url := range urls {
		if err := send(ctx, url, message); err != nil {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// Check finds what is wrong with a notification URL before anything is sent; nil: nothing. The error names the service and nothing
// else of the URL.
func Check(url string) error {
	service, _, ok := strings.Cut(url, "://")
	if !ok {
		return errors.New("not a notification URL: it has no service, such as slack:// or smtp://, in front")
	}
	if _, err := neturl.Parse(url); err == nil && strings.HasPrefix(service, "matrix") {
		return nil // its sender logs in when it is made, and nothing is to be sent
	}
	if _, err := shoutrrr.CreateSender(ownForm(url)); err != nil {
		return fmt.Errorf("not a notification URL of %s", assay.Clean(service, 40))
	}
	return nil
}

// webhooks are addresses as the services themselves hand them out, and the form that their senders want.
var webhooks = []struct {
	form *regexp.Regexp
	to   string
}{
	{regexp.MustCompile(`^https://hooks\.slack\.com/services/(\w+)/(\w+)/(\w+)/?$`), "slack://hook:$1-$2-$3@webhook"},
	{regexp.MustCompile(`^https://discord(?:app)?\.com/api/webhooks/(\d+)/([\w-]+)/?$`), "discord://$2@$1"},
}

// ownForm returns a notification URL for the address of a service's own webhook; other URLs as they are.
func ownForm(url string) string {
	for _, h := range webhooks {
		if h.form.MatchString(url) {
			return h.form.ReplaceAllString(url, h.to)
		}
	}
	return url
}

func send(ctx context.Context, url, message string) error {
	service, _, ok := strings.Cut(url, "://")
	if !ok {
		return errors.New("notify: not a notification URL: it has no service, such as slack:// or smtp://, in front")
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- shoutrrr.Send(ownForm(url), message) }() // it takes no context: one that hangs is left behind
	select {
	case err := <-done:
		if err != nil {
			return fmt.Errorf("notify by %s: the message was not accepted: check the URL and that the service can be reached", service)
		}
		return nil
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return fmt.Errorf("notify by %s: no reply within %s", service, timeout)
		}
		return fmt.Errorf("notify by %s: %w", service, ctx.Err())
	}
}
