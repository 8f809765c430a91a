package provider

import (
	"fmt"
	"net/url"
	"strings"
	"unicode"

	"assay/internal/study/catalog"
)

// Settings are a study's settings for one of its providers; every field may be empty.
type Settings struct {
	Name    string // the entry's name; required
	BaseURL string
	KeyEnv  string // the variable that `key:` names
}

// Origin is the source of the settings, for `check` and `keys` to show.
type Origin struct {
	BaseURLEnv string // the variable that set the base URL; empty: the study or the catalogue did
	KeyEnv     string // the variable that holds the key, set or not; empty: no key is used
	KeySet     bool
	Foreign    bool // the study names an address that is not the vendor's own: no key goes there that it does not name
}

// Resolve finds base URL and key. A vendor's own key goes to that vendor's host, or to a base URL from the environment of
// the user who runs this; a base URL that a study names gets only the variable that the study names beside it, so that a
// study from elsewhere cannot send a key to its author.
func Resolve(s Settings, v catalog.Vendor, env func(string) string) (Config, Origin, error) {
	cfg := Config{Name: s.Name, Kind: v.Name, BaseURL: s.BaseURL, Limits: v.Limits}
	var from Origin
	if cfg.BaseURL == "" {
		for _, name := range baseURLVariables(s.Name, v) {
			if u := env(name); u != "" {
				cfg.BaseURL, from.BaseURLEnv = u, name
				break
			}
		}
	}
	if cfg.BaseURL == "" {
		cfg.BaseURL = v.BaseURL
	}
	names := v.KeyEnv
	from.Foreign = s.BaseURL != "" && !sameHost(s.BaseURL, v.BaseURL)
	switch {
	case s.KeyEnv != "":
		names = []string{s.KeyEnv}
	case from.Foreign:
		names = nil
	}
	for i, name := range names {
		if i == 0 {
			from.KeyEnv = name
		}
		if key := env(name); key != "" {
			cfg.Key, from.KeyEnv, from.KeySet = NewSecret(strings.TrimSpace(key)), name, true
			if trouble := KeyTrouble(key); trouble != "" {
				return cfg, from, fmt.Errorf("%s %s (copy the key again, alone)", name, trouble)
			}
			break
		}
	}
	if s.BaseURL != "" && from.KeyEnv == "" && len(v.KeyEnv) > 0 && !v.KeyOptional {
		return cfg, from, fmt.Errorf("provider %s: base_url is not %s's own, so the study must name the key for it (key: ${VARIABLE})",
			s.Name, v.Title)
	}
	return cfg, from, nil
}

// KeyTrouble returns what keeps a text from being an API key, in words that show nothing of it; empty: nothing does. White space
// around it is none of it.
func KeyTrouble(key string) string {
	key = strings.TrimSpace(key)
	switch {
	case key == "":
		return "is empty"
	case strings.ContainsAny(key, "\r\n"):
		return "has a line break in it"
	case strings.ContainsFunc(key, unicode.IsSpace):
		return "has a space in it"
	case strings.ContainsAny(key, "\"'`"):
		return "has a quotation mark in it"
	case strings.ContainsFunc(key, func(r rune) bool { return r < '!' || r > '~' }):
		return "has a character in it that no key has"
	}
	return ""
}

// IsAddress reports whether a text can be a base URL.
func IsAddress(raw string) bool {
	_, ok := address(raw)
	return ok
}

func address(raw string) (*url.URL, bool) {
	u, err := url.Parse(raw)
	return u, err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http")
}

// baseURLVariables returns the variables that may set a base URL: the one the vendor's own clients use, then NAME_BASE_URL.
func baseURLVariables(name string, v catalog.Vendor) []string {
	upper := strings.NewReplacer("-", "_", ".", "_").Replace(strings.ToUpper(name)) + "_BASE_URL"
	if v.BaseURLEnv == "" || v.BaseURLEnv == upper {
		return []string{upper}
	}
	return []string{v.BaseURLEnv, upper}
}

// sameHost reports whether a URL goes to the vendor's own host, over TLS. A host with a placeholder for the region
// matches any one region.
func sameHost(given, own string) bool {
	g, err := url.Parse(given)
	if err != nil || g.Scheme != "https" || g.User != nil {
		return false
	}
	before, rest, ok := strings.Cut(own, "{location}")
	if ok {
		region, starts := strings.CutPrefix(g.Host, strings.TrimPrefix(before, "https://"))
		region, ends := strings.CutSuffix(region, strings.TrimSuffix(rest, "/"))
		return starts && ends && region != "" && strings.Trim(region, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
	}
	o, err := url.Parse(own)
	return err == nil && own != "" && strings.EqualFold(g.Host, o.Host)
}
