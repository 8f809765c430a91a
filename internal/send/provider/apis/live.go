package apis

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/send/provider"
)

// openLive opens a server with OpenAI's chat API and no batches.
func openLive(cfg provider.Config) (provider.Account, error) {
	api, err := provider.NewClient(cfg, provider.Bearer(cfg.Key))
	if err != nil {
		return provider.Account{}, err
	}
	return provider.Account{BaseURL: cfg.BaseURL, Live: &asker{api: api, models: "/models"}}, nil
}

// openOllama opens an Ollama server. OLLAMA_HOST, which names it, often has no scheme.
func openOllama(cfg provider.Config) (provider.Account, error) {
	cfg.BaseURL = ollamaURL(cfg.BaseURL)
	api, err := provider.NewClient(cfg, provider.Bearer(cfg.Key))
	if err != nil {
		return provider.Account{}, err
	}
	path := func(r *assay.Request) string {
		if r.Wire.Dialect == assay.DialectOllama {
			return provider.Path("api", "chat")
		}
		return provider.Path("v1", "chat", "completions")
	}
	return provider.Account{BaseURL: cfg.BaseURL, Live: &asker{api: api, path: path, models: "/api/tags"}}, nil
}

// ollamaURL makes a URL from what OLLAMA_HOST may hold: a host, a port, both, or a URL.
func ollamaURL(s string) string {
	if strings.Contains(s, "://") {
		return s
	}
	if strings.HasPrefix(s, ":") {
		s = "127.0.0.1" + s
	}
	u := url.URL{Scheme: "http", Host: s}
	if u.Port() == "" {
		u.Host += ":11434"
	}
	if u.Hostname() == "0.0.0.0" {
		u.Host = "127.0.0.1:" + u.Port()
	}
	return u.String()
}

// asker answers requests one by one.
type asker struct {
	api    *provider.Client
	path   func(*assay.Request) string // nil: where OpenAI and its relatives have it
	models string                      // path of the list of models; empty: there is none
	plain  bool                        // streams always have the usage, which is not to be asked for
	size   string                      // parameter that makes the list's page large; empty: it has one page
}

// Ask makes the call.
func (a *asker) Ask(ctx context.Context, r *assay.Request) (provider.Reply, error) {
	path := a.path
	if path == nil {
		path = openAIPath
	}
	return a.api.Ask(ctx, path(r), r)
}

// Stream makes the call, and hands the answer on while it comes.
func (a *asker) Stream(ctx context.Context, r *assay.Request, each func(provider.StreamEvent)) (provider.Reply, error) {
	path := a.path
	if path == nil {
		path = openAIPath
	}
	at := provider.StreamCall{Path: path(r), Plain: a.plain}
	if whole, ok := strings.CutSuffix(at.Path, ":generateContent"); ok {
		at.Path, at.Query = whole+":streamGenerateContent", url.Values{"alt": {"sse"}}
	}
	return a.api.Stream(ctx, at, r, each)
}

// Models lists the models there are.
func (a *asker) Models(ctx context.Context) ([]string, error) {
	if a.models == "" {
		return nil, nil
	}
	q := url.Values{}
	if a.size != "" {
		q.Set(a.size, "1000")
	}
	var l modelList
	if _, err := a.api.JSON(ctx, provider.Call{Path: a.models, Query: q}, &l); err != nil {
		return nil, fmt.Errorf("list models: %w", err)
	}
	return l.names, nil
}

// openAIPath returns the path of the API that the request uses.
func openAIPath(r *assay.Request) string {
	if r.Wire.Dialect == assay.DialectData {
		return dataPath(r)
	}
	if r.Wire.Dialect == assay.DialectResponses {
		return provider.Path("responses")
	}
	return provider.Path("chat", "completions")
}

// dataPath returns the path of an endpoint that gives no text, without the version before it.
func dataPath(r *assay.Request) string {
	return provider.Path(r.Wire.URL[strings.LastIndex(r.Wire.URL, "/")+1:])
}

// fixed returns the same path for every request.
func fixed(segments ...string) func(*assay.Request) string {
	path := provider.Path(segments...)
	return func(*assay.Request) string { return path }
}

// modelList reads the three forms in which models are listed: {"data":[{"id"}]}, [{"id"}] and {"models":[{"name"}]}.
type modelList struct {
	names []string
	found bool
}

// Valid wants a list, be it empty.
func (l *modelList) Valid() bool { return l.found }

// UnmarshalJSON takes whichever list is there.
func (l *modelList) UnmarshalJSON(b []byte) error {
	type model struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	}
	var doc struct {
		Data   []model `json:"data"`
		Models []model `json:"models"`
	}
	var bare []model
	if json.Unmarshal(b, &bare) != nil {
		_ = json.Unmarshal(b, &doc)
	}
	l.found = bare != nil || doc.Data != nil || doc.Models != nil
	for _, m := range slices.Concat(bare, doc.Data, doc.Models) {
		l.names = append(l.names, bareModel(cmp.Or(m.ID, m.Name)))
	}
	return nil
}
