package drive

import (
	"fmt"
	"net"
	"net/url"
	"sync"

	"assay/internal/send/batchrun"
	"assay/internal/send/engine"
	"assay/internal/send/workspace"
	"assay/internal/show/serve"
)

// Providers are those that can be reached from here, each resolved once. They are safe for concurrent use.
type Providers struct {
	world *workspace.World
	mu    sync.Mutex
	known map[string]Target
}

// NewProviders resolves providers by the keys and addresses of a world.
func NewProviders(w *workspace.World) *Providers {
	return &Providers{world: w, known: map[string]Target{}}
}

// Target is a provider with its settings here.
type Target struct {
	batchrun.Target
	Access engine.Access
	err    error // why it cannot be
}

// Target returns how a provider is reached; the error is why it cannot be.
func (p *Providers) Target(provider string) (Target, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t, ok := p.known[provider]
	if !ok {
		t = p.resolve(provider)
		p.known[provider] = t
	}
	return t, t.err
}

func (p *Providers) resolve(provider string) Target {
	t, err := p.world.Resolver().Target(batchrun.Wish{Provider: provider})
	if err == nil {
		err = p.unnamed(t)
	}
	if err == nil {
		err = p.world.Resolver().Lacks(t)
	}
	var access engine.Access
	if err == nil {
		access, err = p.world.Dial(t)
	}
	return Target{Target: t, Access: access, err: err}
}

// unnamed returns the error of a provider on this machine that its operator has not named: who may call the gateway may not call
// everything that happens to listen beside it.
func (p *Providers) unnamed(t batchrun.Target) error {
	v, _ := p.world.Resolver().Catalog.Vendor(t.Kind)
	u, err := url.Parse(v.BaseURL)
	if err != nil || u.Host == "" {
		return nil
	}
	if local, err := serve.Loopback(net.JoinHostPort(u.Hostname(), "80")); err != nil || !local {
		return nil
	}
	if set, _ := p.world.Env(v.BaseURLEnv); set != "" {
		return nil
	}
	return fmt.Errorf("servers on its own machine are off unless %s is set", v.BaseURLEnv)
}

// Ready returns why a provider cannot be used here; nil: it can.
func (p *Providers) Ready(provider string) error {
	_, err := p.Target(provider)
	return err
}

// fingerprint returns that of the key for a provider; empty: there is none here.
func (p *Providers) fingerprint(provider string) string {
	t, err := p.Target(provider)
	if err != nil {
		return ""
	}
	return t.Access.Fingerprint
}
