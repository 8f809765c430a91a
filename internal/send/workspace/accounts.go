package workspace

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"assay/internal/keep/objects"
	"assay/internal/send/engine"
	"assay/internal/send/provider"
	"assay/internal/send/provider/apis"
	"assay/internal/simulator"
	"assay/internal/study"
	"assay/internal/study/catalog"
)

// Accounts opens the providers of one study as they are needed. It is safe for concurrent use.
type Accounts struct {
	world *World
	study *study.Study
	sim   *simulator.Server // a rehearsal's; nil: the real providers
	stall time.Duration     // how long a transfer may pause; 0: as long as usual

	deadline time.Duration // how long a small call may take; 0: as long as usual

	mu   sync.Mutex
	open map[string]engine.Access
}

// Accounts returns the accounts of a study's providers.
func (w *World) Accounts(s *study.Study) *Accounts { return &Accounts{world: w, study: s} }

// Access returns the account of a provider's name, to be used. Without its key the error is engine.ErrNoKey.
func (a *Accounts) Access(name string) (engine.Access, error) {
	got, err := a.Known(name)
	if err == nil {
		err = got.Missing
	}
	return got, err
}

// Known returns the account of a provider's name, with or without its key.
func (a *Accounts) Known(name string) (engine.Access, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if got, ok := a.open[name]; ok {
		return got, nil
	}
	got, err := a.dial(name)
	if err != nil {
		return got, err
	}
	if a.open == nil {
		a.open = map[string]engine.Access{}
	}
	a.open[name] = got
	return got, nil
}

func (a *Accounts) dial(name string) (engine.Access, error) {
	p, _ := a.study.Providers.Find(name)
	v, ok := a.vendor(name)
	if !ok {
		return engine.Access{}, fmt.Errorf("no provider is called %q", name)
	}
	cfg, from, err := a.resolve(name, v)
	if a.sim != nil {
		cfg = provider.Config{Name: name, Kind: v.Name, BaseURL: a.sim.BaseURLs(simRoot)[v.Name], Key: provider.NewSecret("sim"),
			HTTP: a.sim.Transport(), Limits: v.Limits}
		if cfg.BaseURL == "" {
			cfg.BaseURL = a.sim.BaseURLs(simRoot)[catalog.Copied]
		}
		cfg.Storage, cfg.Amazon = simRoot+storages()[scheme(v)], objects.FixedAccount("sim", "sim")
	} else if err != nil {
		return engine.Access{}, err
	}
	var missing error
	if a.sim == nil && !from.KeySet && !v.KeyOptional && len(v.KeyEnv) > 0 {
		missing = fmt.Errorf("%w: set %s", engine.ErrNoKey, from.KeyEnv)
	}
	cfg.Version, cfg.Account = a.expand(p.Version), cmp.Or(a.expand(p.Account), sim(a.sim, "sim"))
	cfg.Project, cfg.Location = cmp.Or(a.expand(p.Project), sim(a.sim, "sim")), cmp.Or(a.expand(p.Location), sim(a.sim, "us-central1"))
	cfg.Input, cfg.Output = cmp.Or(a.expand(p.Input), sim(a.sim, scheme(v)+"sim/in/")),
		cmp.Or(a.expand(p.Output), sim(a.sim, scheme(v)+"sim/out/"))
	cfg.Role = cmp.Or(a.expand(p.Role), sim(a.sim, "arn:aws:iam::123456789012:role/sim"))
	if a.sim == nil {
		cfg.HTTP, cfg.Storage, cfg.Amazon = a.world.Contact.Around(a.world.HTTP, name), a.env(v.StorageEnv), objects.OpenAccount(a.env)
		if from.Foreign {
			cfg.Amazon = nil
		}
	}
	for _, h := range p.Headers {
		if cfg.Headers == nil {
			cfg.Headers = map[string]string{}
		}
		cfg.Headers[h.Name] = h.Value
	}
	a.fill(&cfg, v)
	cfg.HTTP = a.world.Exchanges.Around(cfg.HTTP, cfg.Key)
	cfg.Deadline, cfg.Stall = a.deadline, a.stall
	override(&cfg.Limits, p.Limits)
	account, err := apis.Open(cfg)
	switch {
	case err != nil && missing != nil:
		return engine.Access{}, missing // what else it lacks does not matter here
	case err != nil:
		return engine.Access{}, err
	case missing != nil:
		return engine.Access{Account: account, Missing: missing}, nil
	}
	key := cfg.Key
	if len(v.KeyElse) > 0 { // keys come and go within hours; whose jobs they are does not change with them
		key = provider.NewSecret(cfg.Location + " " + ownerOf(cfg.Role))
	}
	return engine.Access{Account: account, Fingerprint: fingerprint(key)}, nil
}

// scheme returns how the addresses of a vendor's buckets begin.
func scheme(v catalog.Vendor) string {
	for _, s := range v.Settings {
		if s.Scheme != "" {
			return s.Scheme
		}
	}
	return "gs://"
}

// storages returns where the simulator has the buckets of a scheme.
func storages() map[string]string { return map[string]string{"gs://": "/gcs", "s3://": "/s3"} }

// fill takes settings that the study leaves out from the variables that the vendor's own clients read.
func (a *Accounts) fill(cfg *provider.Config, v catalog.Vendor) {
	for _, s := range v.Settings {
		value := ""
		for _, name := range s.Env {
			value = cmp.Or(value, a.env(name))
		}
		if value == "" || a.sim != nil {
			continue
		}
		switch s.Name {
		case "location":
			cfg.Location = cmp.Or(cfg.Location, value)
		case "role":
			cfg.Role = cmp.Or(cfg.Role, value)
		case "bucket":
			folder := s.Scheme + strings.Trim(strings.TrimPrefix(value, s.Scheme), "/")
			cfg.Input, cfg.Output = cmp.Or(cfg.Input, folder+"/input/"), cmp.Or(cfg.Output, folder+"/output/")
		case "project":
			cfg.Project = cmp.Or(cfg.Project, value)
		case "account":
			cfg.Account = cmp.Or(cfg.Account, value)
		}
	}
}

// vendor returns the vendor of a provider's name.
func (a *Accounts) vendor(name string) (catalog.Vendor, bool) {
	p, _ := a.study.Providers.Find(name)
	kind, ok := catalog.Default().Kind(name, p.Kind, p.BaseURL)
	if !ok {
		return catalog.Vendor{}, false
	}
	v, _ := catalog.Default().Vendor(kind)
	return v, true
}

func (a *Accounts) resolve(name string, v catalog.Vendor) (provider.Config, provider.Origin, error) {
	p, _ := a.study.Providers.Find(name)
	return provider.Resolve(provider.Settings{Name: name, BaseURL: a.expand(p.BaseURL), KeyEnv: strings.Trim(p.Key, "${}")}, v, a.env)
}

// KeyName returns the variable that holds a provider's key; empty if none does.
func (a *Accounts) KeyName(name string) string {
	v, ok := a.vendor(name)
	if !ok {
		return ""
	}
	_, from, _ := a.resolve(name, v) // the caller reports a missing key
	return from.KeyEnv
}

// Address returns where requests of a provider go, if that is not the vendor's own host; empty: to the vendor.
func (a *Accounts) Address(name string) string {
	v, ok := a.vendor(name)
	if !ok {
		return ""
	}
	cfg, _, _ := a.resolve(name, v) // whether it can be reached is reported when it is used
	if host := HostOf(cfg.BaseURL); host != HostOf(v.BaseURL) {
		return host
	}
	return ""
}

// HostOf returns the scheme and host of a URL, without anything that could be secret.
func HostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// simRoot is where the in-process simulator seems to be; nothing leaves the process.
const simRoot = "http://simulator.invalid"

// sim returns a setting that only a rehearsal makes up.
func sim(s *simulator.Server, value string) string {
	if s == nil {
		return ""
	}
	return value
}

func override(l *catalog.Limits, own study.ProviderLimits) {
	l.Requests = cmp.Or(own.Requests, l.Requests)
	l.Least = cmp.Or(own.Least, l.Least)
	l.Bytes = cmp.Or(own.Bytes, l.Bytes)
	l.LineBytes = cmp.Or(own.Line, l.LineBytes)
}

func (a *Accounts) env(name string) string { return a.world.env(name) }

// expand fills ${NAME} from the environment.
func (a *Accounts) expand(text string) string { return os.Expand(text, a.env) }

// fingerprint distinguishes keys without showing them.
func fingerprint(key provider.Secret) string {
	sum := sha256.Sum256([]byte("assay key " + key.Reveal()))
	return hex.EncodeToString(sum[:4])
}

// ownerOf returns the number of the account that a role belongs to: arn:aws:iam::NUMBER:role/NAME.
func ownerOf(role string) string {
	const number = 4
	parts := strings.SplitN(role, ":", number+2)
	if len(parts) <= number {
		return ""
	}
	return parts[number]
}
