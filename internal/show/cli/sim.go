package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"assay/internal/show/cli/shell"
	"assay/internal/show/serve"
	"assay/internal/simulator"
	"assay/internal/simulator/minds"
	"assay/internal/study/catalog"
)

type simFlags struct {
	listen  string
	faults  []string
	options simulator.Options
	judges  minds.Judges
}

func simCommand(w *shell.World) *cobra.Command {
	f := simFlags{judges: minds.DefaultJudges()}
	c := &cobra.Command{
		Use:     "sim",
		GroupID: shell.GroupTools,
		Short:   "Serve a simulator of the providers' APIs, without keys or costs",
		Long: "Serves a simulator of all providers until interrupted. Any key that does not begin with `bad` works. Point clients at " +
			"it with the\n" +
			"environment variables it prints. GET /sim/ledger lists what was accepted and billed, GET /sim/truth what is true of\n" +
			"models and judges; POST /sim/faults and /sim/clock change faults and time while it runs. docs/simulator.md explains " +
			"the fault rules.",
		Args: shell.Args(),
		RunE: func(c *cobra.Command, _ []string) error { return serveSim(c.Context(), w, f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.listen, "listen", "127.0.0.1:8080", "address to serve on")
	flags.Uint64Var(&f.options.Seed, "seed", 1, "seed of answers and faults")
	flags.Float64Var(&f.options.Rate, "rate", 0, "requests of a job that complete per second (0: all at once)")
	flags.DurationVar(&f.options.Latency, "latency", 0, "latency of live calls")
	flags.DurationVar(&f.options.Queue, "queue", 0, "how long a job waits before it runs")
	flags.DurationVar(&f.options.Window, "window", 0, "after which a job expires (0: the provider's own)")
	flags.StringVar(&f.options.Dir, "dir", "", "folder for its files (default: a temporary one)")
	flags.StringArrayVar(&f.faults, "fault", nil, "a fault rule, such as 'openai create drop-reply once' (repeatable)")
	flags.IntVar(&f.options.Limits.Requests, "limit-requests", 0, "live requests per minute and key")
	flags.IntVar(&f.options.Limits.Tokens, "limit-tokens", 0, "live tokens per minute and key")
	flags.Int64Var(&f.options.Limits.Enqueued, "limit-enqueued", 0, "prompt tokens that unfinished batches of one model may hold")
	flags.Float64Var(&f.judges.Noise, "judge-noise", f.judges.Noise, "points of quality by which judges err (0: never)")
	flags.Float64Var(&f.judges.Lean, "judge-lean", f.judges.Lean, "points of quality that judges add to a single answer")
	flags.Float64Var(&f.judges.PositionBias, "judge-bias", f.judges.PositionBias, "log odds that judges add to what they see first")
	flags.Float64Var(&f.judges.Ties, "judge-ties", f.judges.Ties, "share of ties between equals, where ties are allowed")
	flags.Float64Var(&f.judges.Refusals, "judge-refusals", f.judges.Refusals, "share of questions that judges decline")
	flags.Float64Var(&f.judges.Malformed, "judge-malformed", f.judges.Malformed, "share of judges' replies without a verdict")
	return c
}

func serveSim(ctx context.Context, w *shell.World, f simFlags) error {
	for _, text := range f.faults {
		rule, err := simulator.ParseRule(text)
		if err != nil {
			return shell.Usage("assay help sim", "--fault: %s", err)
		}
		f.options.Faults = append(f.options.Faults, rule)
	}
	if err := f.judges.Check(); err != nil {
		return shell.Usage("assay help sim", "--judge-…: %s", err)
	}
	f.options.Judges = &f.judges
	sim, err := simulator.New(f.options)
	if err != nil {
		return fmt.Errorf("start the simulator: %w", err)
	}
	defer sim.Close()
	if _, err := serve.Loopback(f.listen); err != nil {
		return shell.Usage("", "--listen: %s", err)
	}
	listener, err := w.Listen(f.listen)
	if err != nil {
		return err
	}
	root := "http://" + listener.Addr().String()
	if _, err := fmt.Fprintf(w.Stdout, "simulator at %s; stop it with Ctrl-C\n\n%s", root, simEnvironment(sim.BaseURLs(root))); err != nil {
		return err
	}
	server := &http.Server{Handler: sim, ReadHeaderTimeout: 10 * time.Second}
	stopped := context.AfterFunc(ctx, func() { server.Close() })
	defer stopped()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the simulator: %w", err)
	}
	return nil
}

// simEnvironment returns the lines a shell takes to send every provider's requests to the simulator.
func simEnvironment(urls map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(urls)) {
		v, ok := catalog.Default().Vendor(name)
		if !ok || v.BaseURLEnv == "" {
			continue
		}
		if len(v.KeyElse) > 0 {
			b.WriteString("# not where artifacts are in a bucket of S3: these keys would take the place of its own\n")
		}
		fmt.Fprintf(&b, "export %s=%s", v.BaseURLEnv, urls[name])
		switch {
		case len(v.KeyElse) > 0:
			b.WriteString(simSigned(v, urls))
		case len(v.KeyEnv) > 0:
			fmt.Fprintf(&b, " %s=sim", v.KeyEnv[0])
		}
		b.WriteString("\n")
	}
	return b.String()
}

// simSigned returns what else a vendor needs whose calls are signed: keys, settings, and the address of its buckets.
func simSigned(v catalog.Vendor, urls map[string]string) string {
	out := " AWS_ACCESS_KEY_ID=sim AWS_SECRET_ACCESS_KEY=sim"
	if v.StorageEnv != "" {
		out += " " + v.StorageEnv + "=" + urls["s3"]
	}
	for _, s := range v.Settings {
		value := map[string]string{"location": "us-east-1", "bucket": "sim-bucket", "role": "arn:aws:iam::123456789012:role/sim"}[s.Name]
		out += " " + s.Env[0] + "=" + value
	}
	return out
}
