package backend

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"time"

	"assay/internal/simulator/rules"
)

// Vendor is one provider as the simulator plays it.
type Vendor struct {
	Name   string
	Prefix string // of its paths
	Base   string // what its clients are given as a base URL
	number uint32 // its place in the list of vendors, from 1

	Key         func(*http.Request) string   // where its key travels
	Admit       func(*Call) *rules.Rejection // what else a call needs; nil: nothing
	Shape       func(*Call, *rules.Rejection) any
	DeniedAs    int    // status of a bad key; 0: 401
	FirstBad    bool   // the validation of a batch stops at the first bad line
	BrokeAs     string // what running out of money is called; "": insufficient_quota
	BrokeStatus int    // and its status; 0: 429
	RetryInBody bool   // the time to wait is in the body, not in a header
	IDHeaderAs  string // where the request id travels; "": x-request-id
	Rate        func(http.Header, Meter)

	Requests int           // most requests in one batch
	Least    int           // fewest; 0: one
	Bytes    int64         // most bytes of one batch
	Window   time.Duration // after which a batch expires
	Caches   bool          // caches prompts by itself
	OneModel bool          // a batch may name one model only

	LineByLine bool // a batch never fails as a whole
	LooseIDs   bool // ids of requests may repeat

	ExpiredFree bool // what an expired batch did is not charged

	NoFile func(id string) *rules.Rejection // of a request that names a file which is not there; nil: requests name none

	Routes func(Routes)
}

func (v *Vendor) idHeader() string { return cmp.Or(v.IDHeaderAs, "X-Request-Id") }

// Denied returns the answer to a missing or bad key.
func (v *Vendor) Denied(key string) *rules.Rejection {
	r := rules.Plain(http.StatusUnauthorized, 0)
	if key == "" {
		r.Code, r.Message = "missing_api_key", "You didn't provide an API key."
	}
	r.Status = cmp.Or(v.DeniedAs, r.Status)
	return r
}

// broke returns the answer to an account without money: waiting does not help.
func (v *Vendor) broke() *rules.Rejection {
	return &rules.Rejection{
		Status: cmp.Or(v.BrokeStatus, http.StatusTooManyRequests), Code: cmp.Or(v.BrokeAs, "insufficient_quota"),
		Message: "You exceeded your current quota, please check your plan and billing details.",
	}
}

func acceptable(key string) bool { return key != "" && !strings.HasPrefix(key, "bad") }

// accountOf returns what the simulator keeps of a key.
func accountOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:8])
}

// Bearer returns the key in "Authorization: Bearer …".
func Bearer(r *http.Request) string {
	scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "bearer") {
		return ""
	}
	return strings.TrimSpace(key)
}

// HeaderKey returns the key in a header of its own, or else a bearer.
func HeaderKey(name string) func(*http.Request) string {
	return func(r *http.Request) string { return cmp.Or(r.Header.Get(name), Bearer(r)) }
}
