// Package notify lets people elsewhere know that something happened to a run.
package notify

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nicholas-fedor/shoutrrr"
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

func send(ctx context.Context, url, message string) error {
	service, _, ok := strings.Cut(url, "://")
	if !ok {
		return errors.New("notify: not a notification URL")
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- shoutrrr.Send(url, message) }() // it takes no context: one that hangs is left behind
	select {
	case err := <-done:
		if err != nil {
			return fmt.Errorf("notify by %s: not taken", service)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("notify by %s: %w", service, ctx.Err())
	}
}
