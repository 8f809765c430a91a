package provider

import (
	"log/slog"
	"net/http"
	"time"

	"assay/internal/keep/objects"
	"assay/internal/study/catalog"
)

// Config holds the settings to open an account.
type Config struct {
	Name     string // the name under `providers:` of the study; empty: the kind
	Kind     string // the vendor
	BaseURL  string // empty: the vendor's own, where its file knows how to make it
	Key      Secret // goes to the origin of BaseURL and nowhere else
	Headers  map[string]string
	Version  string            // of the API, if it has versions; empty: the vendor file's default
	Account  string            // Fireworks: the account id
	Org      string            // OpenAI: the organisation
	Project  string            // Vertex: the project; OpenAI: the project id
	Location string            // Vertex, Bedrock: the region
	Role     string            // Bedrock: the role that jobs read and write files in
	Input    string            // Vertex, Bedrock: folder for uploads, gs:// or s3://
	Output   string            // Vertex, Bedrock: folder for results
	Storage  string            // Vertex, Bedrock: base URL of the object store; empty: the vendor's own
	Amazon   *objects.Account  // Bedrock: the account of calls without a key, and of those to its storage
	Deadline time.Duration     // how long a small call may take; 0: a minute
	Stall    time.Duration     // how long a transfer, or a live answer that has begun to come, may pause; 0: two minutes
	Limits   catalog.Limits    // the catalogue's row, with the study's overrides
	HTTP     http.RoundTripper // nil: NewTransport
	Trace    func(Exchange)    // sees every call, without secrets; nil: no trace
}

// Secret is a key. It prints as stars wherever it is printed: the pointer keeps it from fmt even as an unexported field.
type Secret struct{ value *string }

// NewSecret wraps a key.
func NewSecret(value string) Secret { return Secret{&value} }

// Reveal returns the key itself.
func (s Secret) Reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

// Empty reports whether there is no key.
func (s Secret) Empty() bool { return s.Reveal() == "" }

const stars = "****"

// String is stars.
func (s Secret) String() string { return stars }

// GoString is stars.
func (s Secret) GoString() string { return stars }

// MarshalText is stars.
func (s Secret) MarshalText() ([]byte, error) { return []byte(stars), nil }

// LogValue is stars.
func (s Secret) LogValue() slog.Value { return slog.StringValue(stars) }
