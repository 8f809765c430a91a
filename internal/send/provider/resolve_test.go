package provider

import (
	"testing"

	"assay/internal/study/catalog"
)

func TestAKeyGoesOnlyWhereItBelongs(t *testing.T) {
	t.Parallel()
	openai := catalog.Vendor{Name: "openai", Title: "OpenAI", BaseURL: "https://api.openai.com/v1", BaseURLEnv: "OPENAI_BASE_URL",
		KeyEnv: []string{"OPENAI_API_KEY"}}
	gemini := catalog.Vendor{Name: "gemini", BaseURL: "https://g.example", BaseURLEnv: "GOOGLE_GEMINI_BASE_URL",
		KeyEnv: []string{"GOOGLE_API_KEY", "GEMINI_API_KEY"}}
	vertex := catalog.Vendor{Name: "vertex", BaseURL: "https://{location}-aiplatform.googleapis.com", KeyEnv: []string{"VERTEX_TOKEN"}}
	box := catalog.Vendor{Name: catalog.Compatible, KeyOptional: true, KeyEnv: nil}
	env := map[string]string{"OPENAI_API_KEY": "own", "GOOGLE_API_KEY": "google", "GEMINI_API_KEY": "gemini", "BOX_KEY": " box\n",
		"VERTEX_TOKEN": "token"}
	type got struct{ BaseURL, Key, KeyEnv, BaseURLEnv string }
	for name, c := range map[string]struct {
		settings Settings
		vendor   catalog.Vendor
		more     map[string]string
		want     got
		problem  bool
	}{
		"the vendor's own": {Settings{Name: "openai"}, openai, nil, got{"https://api.openai.com/v1", "own", "OPENAI_API_KEY", ""}, false},
		"a base URL from the environment": {Settings{Name: "openai"}, openai, map[string]string{"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"},
			got{"http://127.0.0.1:1/v1", "own", "OPENAI_API_KEY", "OPENAI_BASE_URL"}, false},
		"a base URL by the entry's name": {Settings{Name: "my-box"}, openai, map[string]string{"MY_BOX_BASE_URL": "http://127.0.0.1:1/v1"},
			got{"http://127.0.0.1:1/v1", "own", "OPENAI_API_KEY", "MY_BOX_BASE_URL"}, false},
		"a study's base URL without a key": {Settings{Name: "x", BaseURL: "https://thief.example/v1"}, openai, nil,
			got{"https://thief.example/v1", "", "", ""}, true},
		"a study's base URL with its own key": {Settings{Name: "x", BaseURL: "https://box.example/v1", KeyEnv: "BOX_KEY"}, openai, nil,
			got{"https://box.example/v1", "box", "BOX_KEY", ""}, false},
		"a study's base URL at the vendor's host": {Settings{Name: "x", BaseURL: "https://api.openai.com/v2"}, openai, nil,
			got{"https://api.openai.com/v2", "own", "OPENAI_API_KEY", ""}, false},
		"the vendor's host without TLS": {Settings{Name: "x", BaseURL: "http://api.openai.com/v1"}, openai, nil,
			got{"http://api.openai.com/v1", "", "", ""}, true},
		"a host that only looks like it": {Settings{Name: "x", BaseURL: "https://api.openai.com.thief.example/v1"}, openai, nil,
			got{"https://api.openai.com.thief.example/v1", "", "", ""}, true},
		"a host hidden behind a user": {Settings{Name: "x", BaseURL: "https://api.openai.com@thief.example/v1"}, openai, nil,
			got{"https://api.openai.com@thief.example/v1", "", "", ""}, true},
		"a server that needs no key": {Settings{Name: "box", BaseURL: "http://127.0.0.1:8000/v1"}, box, nil,
			got{"http://127.0.0.1:8000/v1", "", "", ""}, false},
		"the first key that is set": {Settings{Name: "gemini"}, gemini, nil,
			got{"https://g.example", "google", "GOOGLE_API_KEY", ""}, false},
		"the second key": {Settings{Name: "gemini"}, gemini, map[string]string{"GOOGLE_API_KEY": ""},
			got{"https://g.example", "gemini", "GEMINI_API_KEY", ""}, false},
		"a key that is not set": {Settings{Name: "openai"}, openai, map[string]string{"OPENAI_API_KEY": ""},
			got{"https://api.openai.com/v1", "", "OPENAI_API_KEY", ""}, false},
		"a region's host": {Settings{Name: "v", BaseURL: "https://us-central1-aiplatform.googleapis.com"}, vertex, nil,
			got{"https://us-central1-aiplatform.googleapis.com", "token", "VERTEX_TOKEN", ""}, false},
		"a host that is no region's": {Settings{Name: "v", BaseURL: "https://thief.example/-aiplatform.googleapis.com"}, vertex, nil,
			got{"https://thief.example/-aiplatform.googleapis.com", "", "", ""}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg, from, err := Resolve(c.settings, c.vendor, func(name string) string {
				if v, ok := c.more[name]; ok {
					return v
				}
				return env[name]
			})
			if (err != nil) != c.problem {
				t.Errorf("error %v", err)
			}
			diff(t, c.want, got{cfg.BaseURL, cfg.Key.Reveal(), from.KeyEnv, from.BaseURLEnv})
			diff(t, !cfg.Key.Empty(), from.KeySet)
		})
	}
}

func TestAnAddressOfTheStudyIsForeignUnlessItIsTheVendors(t *testing.T) {
	t.Parallel()
	signed := catalog.Vendor{Name: "x", BaseURL: "https://service.{location}.vendor.example", KeyOptional: true, KeyEnv: []string{"KEY"}}
	for address, want := range map[string]bool{
		"": false, "https://service.eu-west-1.vendor.example": false, "http://service.eu-west-1.vendor.example": true,
		"https://thief.example": true, "https://other.eu-west-1.vendor.example": true,
		"https://service.thief.example/.vendor.example": true, "https://service.a.b.vendor.example": true,
	} {
		cfg, from, err := Resolve(Settings{Name: "x", BaseURL: address}, signed, func(string) string { return "key" })
		if err != nil || from.Foreign != want || cfg.Key.Empty() != want {
			t.Errorf("%s: foreign %v, key kept back %v, %v", address, from.Foreign, cfg.Key.Empty(), err)
		}
	}
}

func TestWhatCannotBeAKeyIsReportedAndNotSent(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"sk-abc_DEF-123": "", " sk-abc\n": "", "\tsk-abc\r\n": "", "   ": "is empty", "sk-abc\nsk-def": "has a line break in it",
		"sk abc": "has a space in it", `"sk-abc"`: "has a quotation mark in it", "sk-\u00e9": "has a character in it that no key has",
		"sk-\x1b": "has a character in it that no key has",
	} {
		if got := KeyTrouble(key); got != want {
			t.Errorf("%q: %q, want %q", key, got, want)
		}
		vendor := catalog.Vendor{Name: "openai", BaseURL: "https://api.openai.com/v1", KeyEnv: []string{"OPENAI_API_KEY"}}
		if _, _, err := Resolve(Settings{Name: "openai"}, vendor, func(string) string { return key }); (err != nil) != (want != "") {
			t.Errorf("%q: error %v", key, err)
		}
	}
}
