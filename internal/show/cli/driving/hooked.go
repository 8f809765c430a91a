package driving

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"assay/internal/keep/store"
	"assay/internal/send/workspace"
	"assay/internal/show/cli/shell"
	"assay/internal/show/hooks"
	"assay/internal/show/serve"
	"assay/internal/study/catalog"
)

// hooked takes providers' notices while runs are driven.
type hooked struct {
	home  *workspace.Home
	woken chan store.Work // what the notices made due; nil: whoever drives looks at the ledger often enough
}

// serve takes notices until the context ends; without an address it does nothing.
func (h hooked) serve(ctx context.Context, f listenFlags, w *shell.World) (wait func(), err error) {
	if f.hooks == "" {
		return func() {}, nil
	}
	on, err := w.Listen(f.hooks)
	if err != nil {
		return nil, err
	}
	paths := "/" + strings.Join(slices.Sorted(maps.Keys(f.secrets)), " and /")
	fmt.Fprintf(w.Stderr, "http://%s takes webhooks at %s\n", on.Addr(), paths)
	r := hooks.New(f.secrets, w.Now, h.wake)
	var wg sync.WaitGroup
	wg.Go(func() { r.Work(ctx, func(err error) { fmt.Fprintln(w.Stderr, "assay: a webhook woke nothing:", err) }) })
	wg.Go(func() {
		server := &http.Server{Handler: r, ReadTimeout: 10 * time.Second, MaxHeaderBytes: 16 << 10}
		if err := serve.Until(ctx, on, server, time.Second); err != nil {
			fmt.Fprintln(w.Stderr, "assay: webhooks are not taken any more:", err)
		}
	})
	return wg.Wait, nil
}

// wake makes the poll of one of our jobs due.
func (h hooked) wake(ctx context.Context, job string) error {
	all, err := h.home.Ledger.Leases.PollNow(ctx, job)
	if err != nil {
		return err
	}
	for _, work := range all {
		select {
		case h.woken <- work:
		case <-ctx.Done():
		default: // the ledger has it
		}
	}
	return nil
}

// checkHooks reads the secrets of all providers that have one, where webhooks are wanted.
func (f *listenFlags) checkHooks(w *shell.World) error {
	if f.hooks == "" {
		return nil
	}
	if _, _, err := net.SplitHostPort(f.hooks); err != nil {
		return shell.Usage("", "--hooks: address %q: want HOST:PORT, such as 127.0.0.1:7791", f.hooks)
	}
	f.secrets = map[string][]hooks.Secret{}
	var variables []string
	for _, v := range catalog.Default().Vendors() {
		if v.HookEnv == "" {
			continue
		}
		variables = append(variables, v.HookEnv)
		secrets, err := hookSecrets(w, v.HookEnv)
		if err != nil {
			return shell.Usage("", "%s: %s", v.HookEnv, err)
		}
		if len(secrets) > 0 {
			f.secrets[v.Name] = secrets
		}
	}
	if len(f.secrets) == 0 {
		return shell.Usage(strings.Join(variables, " or ")+", or one with _FILE behind it, has the signing secret that the provider showed",
			"--hooks: no secret is set to verify webhooks with")
	}
	return nil
}

// hookSecrets reads secrets from a variable, or from the file that the variable with _FILE behind its name has.
func hookSecrets(w *shell.World, variable string) ([]hooks.Secret, error) {
	text, _ := w.Env(variable)
	if file, ok := w.Env(variable + "_FILE"); ok && text == "" && file != "" {
		b, err := w.Disk.ReadFile(file)
		if err != nil {
			return nil, err
		}
		text = string(b)
	}
	return hooks.ParseSecrets(text)
}
