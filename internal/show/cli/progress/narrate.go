package progress

import (
	"context"
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
	all   bool             // of a ledger: lines name day and run
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
				return lines, err
			}
			for _, e := range events {
				line, err := n.line(ctx, run, e)
				if err != nil {
					return lines, err
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
		if about += ", " + name; !n.all {
			about = name
		}
	}
	text := about + ": " + e.Kind
	if e.Text != "" {
		text += ": " + e.Text
	}
	at := time.TimeOnly
	if n.all {
		at = time.DateTime
	}
	return e.At.Local().Format(at) + " " + assay.Clean(text, 500), nil
}

// Print writes the news on stderr.
func (n *Narrator) Print(ctx context.Context) error {
	lines, err := n.news(ctx)
	for _, line := range lines {
		fmt.Fprintln(n.world.Stderr, line)
	}
	return err
}

// NarrateAll prints what happens to all open runs of a ledger, whichever process works on them, until the context ends. While the ledger
// cannot be read that is printed once, and what happened meanwhile when it can.
func NarrateAll(ctx context.Context, w *shell.World, h *shell.Home) {
	n := &Narrator{world: w, home: h, last: map[int64]int64{}, names: map[int64]string{}, all: true}
	for away := false; w.Verbose && ctx.Err() == nil; {
		err := n.lookAround(ctx)
		if err != nil && !away && ctx.Err() == nil {
			fmt.Fprintln(w.Stderr, "assay: the moves cannot be printed, and are later:", err)
		}
		away = err != nil
		_ = w.Clock().Sleep(ctx, time.Second) // the context ends it
	}
}

// lookAround prints the news of all open runs, and of those that were open the last time.
func (n *Narrator) lookAround(ctx context.Context) error {
	open, err := n.home.Ledger.Reader.Runs(ctx, "", store.RunOpen)
	if err != nil {
		return err
	}
	for _, run := range open {
		if err := n.follow(ctx, run); err != nil {
			return err
		}
		if !slices.ContainsFunc(n.runs, func(r store.Run) bool { return r.No == run.No }) {
			n.runs = append(n.runs, run)
		}
	}
	if err := n.Print(ctx); err != nil {
		return err
	}
	n.runs = open
	return nil
}
