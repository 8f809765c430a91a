package simulator

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"time"
)

// vendor is one provider as the simulator plays it.
type vendor struct {
	name   string
	prefix string // of its paths
	base   string // what its clients are given as a base URL

	key         func(*http.Request) string // where its key travels
	admit       func(*call) *Rejection     // what else a call needs; nil: nothing
	shape       func(*call, *Rejection) any
	deniedAs    int    // status of a bad key; 0: 401
	brokeAs     string // what running out of money is called; "": insufficient_quota
	brokeStatus int    // and its status; 0: 429
	retryInBody bool   // the time to wait stands in the body, not in a header
	idHeaderAs  string // where the request id travels; "": x-request-id
	rate        func(http.Header, meter)

	requests int           // most requests in one batch
	bytes    int64         // most bytes of one batch
	window   time.Duration // after which a batch expires
	caches   bool          // caches prompts by itself
	oneModel bool          // a batch may name one model only

	lineByLine bool // a batch never fails as a whole
	looseIDs   bool // ids of requests may repeat

	routes func(routes)
}

// vendors are all that the simulator plays. Adding one is one file and one line.
func vendors() []*vendor {
	return []*vendor{
		openAIVendor(), azureVendor(), groqVendor(), genericVendor(),
		anthropicVendor(),
		geminiVendor(), vertexVendor(), gcsVendor(),
		mistralVendor(), togetherVendor(),
		deepSeekVendor(), ollamaVendor(),
		xaiVendor(), fireworksVendor(), openRouterVendor(),
	}
}

// vendorNumber is a vendor's place in the list, from 1, as the live tally keeps it.
func vendorNumber(name string) uint32 {
	return uint32(slices.IndexFunc(vendors(), func(v *vendor) bool { return v.name == name }) + 1)
}

func (v *vendor) idHeader() string { return cmp.Or(v.idHeaderAs, "X-Request-Id") }

// denied is the answer to a missing or bad key.
func (v *vendor) denied(key string) *Rejection {
	r := plain(http.StatusUnauthorized, 0)
	if key == "" {
		r.Code, r.Message = "missing_api_key", "You didn't provide an API key."
	}
	r.Status = cmp.Or(v.deniedAs, r.Status)
	return r
}

// broke is the answer to an account without money: waiting does not help.
func (v *vendor) broke() *Rejection {
	return &Rejection{
		Status: cmp.Or(v.brokeStatus, http.StatusTooManyRequests), Code: cmp.Or(v.brokeAs, "insufficient_quota"),
		Message: "You exceeded your current quota, please check your plan and billing details.",
	}
}

func acceptable(key string) bool { return key != "" && !strings.HasPrefix(key, "bad") }

// accountOf is what the simulator keeps of a key.
func accountOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:8])
}

// bearer is the key in "Authorization: Bearer …".
func bearer(r *http.Request) string {
	scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "bearer") {
		return ""
	}
	return strings.TrimSpace(key)
}

// headerKey is the key in a header of its own, or else a bearer.
func headerKey(name string) func(*http.Request) string {
	return func(r *http.Request) string { return cmp.Or(r.Header.Get(name), bearer(r)) }
}
