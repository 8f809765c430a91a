package progress

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/show/cli/shell"
)

// Narrator prints what happens to runs, move by move, from the ledger's history. Without -v it prints nothing.
type Narrator struct {
	world *shell.World
	home  *shell.Home
	runs  []store.Run
	last  map[int64]int64  // by run: the line of its history that was printed last
	names map[int64]string // of segments
}

// NewNarrator prints what comes from now on.
func NewNarrator(ctx context.Context, w *shell.World, h *shell.Home, runs ...store.Run) (*Narrator, error) {
	n := &Narrator{world: w, home: h, last: map[int64]int64{}, names: map[int64]string{}}
	if w.Verbose {
		n.runs = runs
	}
	for _, run := range runs {
		if err := n.follow(ctx, run); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// follow takes up a run that is not followed yet; what happened to it before is not printed.
func (n *Narrator) follow(ctx context.Context, run store.Run) error {
	if _, known := n.last[run.No]; known || !n.world.Verbose {
		return nil
	}
	newest, err := n.home.Ledger.Pages.EventsBefore(ctx, run.No, 0, 1)
	if err != nil {
		return err
	}
	n.last[run.No] = 0
	if len(newest) > 0 {
		n.last[run.No] = newest[0].No
	}
	return nil
}

// news are lines about what happened since the last time.
func (n *Narrator) news(ctx context.Context) ([]string, error) {
	const page = 500
	var lines []string
	for _, run := range n.runs {
		for {
			events, err := n.home.Ledger.Reader.Events(ctx, run.No, n.last[run.No], page)
			if err != nil {
				return nil, err
			}
			for _, e := range events {
				line, err := n.line(ctx, run, e)
				if err != nil {
					return nil, err
				}
				lines = append(lines, line)
				n.last[run.No] = e.No
			}
			if len(events) < page {
				break
			}
		}
	}
	return lines, nil
}

func (n *Narrator) line(ctx context.Context, run store.Run, e store.Event) (string, error) {
	about := "run " + run.ID
	if e.Segment != 0 {
		name, ok := n.names[e.Segment]
		if !ok {
			g, err := n.home.Ledger.Reader.Segment(ctx, e.Segment)
			if err != nil {
				return "", err
			}
			name = fmt.Sprintf("segment %d (%s %s, %s of %s)", g.No, g.Stage, g.Lane, g.Mode, assay.Count(int(g.Requests), "request"))
			n.names[e.Segment] = name
		}
		about = name
	}
	text := about + ": " + e.Kind
	if e.Text != "" {
		text += ": " + e.Text
	}
	return e.At.Local().Format(time.TimeOnly) + " " + assay.Clean(text, 500), nil
}

// Print writes the news on stderr.
func (n *Narrator) Print(ctx context.Context) error {
	lines, err := n.news(ctx)
	for _, line := range lines {
		fmt.Fprintln(n.world.Stderr, line)
	}
	return err
}

// NarrateAll prints what happens to all open runs of a ledger, whichever process works on them, until the context ends.
func NarrateAll(ctx context.Context, w *shell.World, h *shell.Home) error {
	n, err := NewNarrator(ctx, w, h)
	for err == nil && w.Verbose {
		var open []store.Run
		if open, err = h.Ledger.Reader.Runs(ctx, "", store.RunOpen); err != nil {
			break
		}
		for _, run := range open {
			if err = n.follow(ctx, run); err != nil {
				break
			}
		}
		before := n.runs // those that closed meanwhile are followed to their end
		for _, run := range open {
			if !slices.ContainsFunc(before, func(r store.Run) bool { return r.No == run.No }) {
				n.runs = append(n.runs, run)
			}
		}
		err = errors.Join(err, n.Print(ctx))
		if n.runs = open; err == nil {
			err = w.Clock().Sleep(ctx, time.Second)
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	return err
}
