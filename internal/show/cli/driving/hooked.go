package driving

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
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
	paths := "/" + strings.Join(slices.Sorted(maps.Keys(f.verifiers)), " and /")
	fmt.Fprintf(w.Stderr, "http://%s takes webhooks at %s\n", on.Addr(), paths)
	r := hooks.New(f.verifiers, w.Now, h.wake)
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

// checkHooks reads what the webhooks of all providers are verified with, where they are wanted.
func (f *listenFlags) checkHooks(w *shell.World) error {
	if f.hooks == "" {
		return nil
	}
	if _, _, err := net.SplitHostPort(f.hooks); err != nil {
		return shell.Usage("", "--hooks: address %q: want HOST:PORT, such as 127.0.0.1:7791", f.hooks)
	}
	f.verifiers = map[string]hooks.Verifier{}
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
		by := hooks.Verifier{Secrets: secrets}
		if by.Tokens, err = hookTokens(w, v.HookTokens); err != nil {
			return shell.Usage("", "%s: %s", v.HookTokens.KeysEnv, err)
		}
		if len(secrets) > 0 || by.Tokens != nil {
			f.verifiers[v.Name] = by
		}
	}
	if len(f.verifiers) == 0 {
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

// hookTokens returns what verifies webhooks that carry a token, where the audience of these is given; nil: they are not taken. The keys are
// pinned by a file, or asked for where they are published.
func hookTokens(w *shell.World, t catalog.HookToken) (*hooks.Tokens, error) {
	audience, _ := w.Env(t.AudienceEnv)
	if t.AudienceEnv == "" || audience == "" {
		return nil, nil
	}
	place, _ := w.Env(t.KeysEnv)
	place = cmp.Or(place, t.Keys)
	if u, err := url.Parse(place); err == nil && (u.Scheme == "https" || u.Scheme == "http") {
		if ip := net.ParseIP(u.Hostname()); u.Scheme == "http" && (ip == nil || !ip.IsLoopback()) {
			return nil, fmt.Errorf("keys come by https, or from a file")
		}
		get := func(ctx context.Context) ([]byte, error) { return getKeys(ctx, w.HTTP, place) }
		return &hooks.Tokens{Audience: audience, Keys: get}, nil
	}
	text, err := w.Disk.ReadFile(place)
	if err == nil {
		_, err = hooks.ParseKeys(text)
	}
	if err != nil {
		return nil, err
	}
	return &hooks.Tokens{Audience: audience, Keys: func(context.Context) ([]byte, error) { return w.Disk.ReadFile(place) }}, nil
}

// mostKeys is how many bytes a document of keys may have.
const mostKeys = 1 << 20

// getKeys reads a document of public keys. It follows no redirect.
func getKeys(ctx context.Context, from http.RoundTripper, place string) ([]byte, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, place, nil)
	if err != nil {
		return nil, err
	}
	resp, err := from.RoundTrip(q)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", place, resp.Status)
	}
	return io.ReadAll(io.LimitReader(resp.Body, mostKeys))
}
