package driving

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"assay/internal/send/workspace"
	"assay/internal/show/cli/shell"
	"assay/internal/show/hooks"
	"assay/internal/show/serve"
)

// pulse shows how a process that works for long is: alive, ready, and how the work of its ledger goes.
type pulse struct {
	home  *workspace.Home
	ready func() bool
}

// listenFlags are where a process shows how it is, and how it writes its log.
type listenFlags struct {
	listen string
	open   bool
	log    string
	hooks  string

	verifiers map[string]hooks.Verifier // of webhooks, by provider
}

// register adds the flags to a command that works for long.
func (f *listenFlags) register(c *cobra.Command) {
	f.log = "text"
	c.Flags().StringVar(&f.listen, "listen", "", "show /healthz, /readyz and /metrics at this address, such as 127.0.0.1:7790")
	c.Flags().StringVar(&f.hooks, "hooks", "", "take signed webhooks of providers at this address, each at a path with its name")
	c.Flags().BoolVar(&f.open, "expose", false, "allow an address that other machines can reach")
}

// check reads the secrets that the flags need, and returns what is wrong with the flags.
func (f *listenFlags) check(w *shell.World) error {
	if f.log != "text" && f.log != "json" {
		return shell.Usage("", "--log: want text or json")
	}
	if err := f.checkHooks(w); err != nil {
		return err
	}
	if f.listen == "" {
		return nil
	}
	local, err := serve.Loopback(f.listen)
	if err != nil {
		return shell.Usage("", "--listen: %s", err)
	}
	if !local && !f.open {
		return shell.Usage("--expose allows it: /metrics shows what was spent, and asks for no token",
			"--listen %s can be reached from other machines", f.listen)
	}
	return nil
}

// logger returns the log of a process.
func (f listenFlags) logger(to io.Writer) *slog.Logger {
	o := &slog.HandlerOptions{Level: slog.LevelWarn, ReplaceAttr: readable}
	if f.log == "json" {
		return slog.New(newQuiet(slog.NewJSONHandler(to, o)))
	}
	return slog.New(newQuiet(slog.NewTextHandler(to, o)))
}

// readable writes a duration as people do, such as 1m30s: JSON would have a number of nanoseconds.
func readable(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.StringValue(a.Value.Duration().String())
	}
	return a
}

// serve answers until the context ends; without an address it does nothing.
func (p pulse) serve(ctx context.Context, f listenFlags, w *shell.World) (wait func() error, err error) {
	if f.listen == "" {
		return func() error { return nil }, nil
	}
	on, err := w.Listen(f.listen)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(w.Stderr, "http://%s has /healthz, /readyz and /metrics\n", on.Addr())
	done := make(chan error, 1)
	go func() {
		done <- serve.Until(ctx, on, &http.Server{Handler: p.handler(), ReadHeaderTimeout: 10 * time.Second}, time.Second)
	}()
	return func() error { return <-done }, nil
}

func (p pulse) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) {
		if away := p.home.Away(r.Context()); away != "" {
			http.Error(w, "the "+away+" does not answer", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		away := p.home.Away(r.Context())
		switch {
		case away != "":
			http.Error(w, "the "+away+" does not answer", http.StatusServiceUnavailable)
		case !p.ready():
			http.Error(w, "it takes no work yet", http.StatusServiceUnavailable)
		default:
			fmt.Fprintln(w, "ok")
		}
	})
	mux.HandleFunc("GET /metrics", p.metrics)
	return mux
}

// metrics writes how the work of the ledger goes as numbers for Prometheus.
func (p pulse) metrics(w http.ResponseWriter, r *http.Request) {
	n, err := p.home.Ledger.Pages.Load(r.Context())
	if err != nil {
		http.Error(w, "the ledger does not answer", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	const gauge, counter = "gauge", "counter"
	for _, m := range []struct {
		kind, name, help string
		value            float64
	}{
		{gauge, "runs_open", "Runs that are not closed.", float64(n.Open)},
		{gauge, "leases", "Segments and runs that a process works on.", float64(n.Leases)},
		{gauge, "segments_due", "Segments that wait for a worker.", float64(n.Due)},
		{gauge, "oldest_due_seconds", "How long the first of them has waited.", n.Oldest.Seconds()},
		{gauge, "gates", "Models that take nothing for a while.", float64(n.Gates)},
		{counter, "takeovers_total", "Leases that this process took over from others that had ended or were silent.",
			float64(p.home.Ledger.Leases.TakenOver())},
		{gauge, "uncertain_calls", "Live calls that may be billed twice.", float64(n.Uncertain)},
		{gauge, "spent_dollars", "What all runs have cost.", n.Spent.Float()},
		{gauge, "reserved_dollars", "What is set aside for work in flight.", n.Reserved.Float()},
	} {
		fmt.Fprintf(w, "# HELP assay_%s %s\n# TYPE assay_%[1]s %[3]s\nassay_%[1]s %[4]g\n", m.name, m.help, m.kind, m.value)
	}
}
