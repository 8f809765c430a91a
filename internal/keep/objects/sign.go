package objects

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
)

// Account signs calls to Amazon's services, and to servers that speak their protocols, with a pair of keys that is read again before it
// expires.
type Account struct {
	keys *credentials.Credentials
}

// OpenAccount takes the keys of the environment, of the AWS credentials file, of a web identity, of the container, or of the machine's
// role, in this order. They are looked for with the first call.
func OpenAccount(env func(string) string) *Account {
	if id, secret := env("AWS_ACCESS_KEY_ID"), env("AWS_SECRET_ACCESS_KEY"); id != "" && secret != "" {
		return &Account{credentials.NewStaticV4(id, secret, env("AWS_SESSION_TOKEN"))}
	}
	return &Account{credentials.NewChainCredentials([]credentials.Provider{
		&credentials.FileAWSCredentials{Filename: env("AWS_SHARED_CREDENTIALS_FILE"), Profile: env("AWS_PROFILE")},
		roleOf(env),
	})}
}

// roleOf returns the role that a web identity, a container or a machine has.
func roleOf(env func(string) string) *credentials.IAM {
	role := &credentials.IAM{Region: env("AWS_REGION")}
	role.EKSIdentity.TokenFile, role.EKSIdentity.RoleARN, role.EKSIdentity.RoleSessionName = env("AWS_WEB_IDENTITY_TOKEN_FILE"),
		env("AWS_ROLE_ARN"), env("AWS_ROLE_SESSION_NAME")
	role.Container.CredentialsRelativeURI, role.Container.CredentialsFullURI = env("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"),
		env("AWS_CONTAINER_CREDENTIALS_FULL_URI")
	// which is read from there in the place of a file's name
	role.Container.AuthorizationToken = env("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")
	if role.EKSIdentity.TokenFile != "" {
		role.Endpoint = env("AWS_ENDPOINT_URL_STS")
	}
	return role
}

// FixedAccount returns an account of one pair of keys.
func FixedAccount(id, secret string) *Account {
	return &Account{credentials.NewStaticV4(id, secret, "")}
}

// Call holds the inputs of a signature beside the request.
type Call struct {
	Service, Region string
	Body            [sha256.Size]byte // the digest of the body
	Time            time.Time
}

// ErrNoKeys is the error of an account that nothing is known of.
var ErrNoKeys = errors.New("there are no AWS keys: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE and a credentials file")

// Sign signs a request (Signature Version 4). Headers that it has by now are part of what is signed, except those which
// proxies change.
func (a *Account) Sign(ctx context.Context, req *http.Request, c Call) error {
	keys, err := a.keys.GetWithContext(&credentials.CredContext{Client: http.DefaultClient, Context: ctx})
	if err != nil {
		return fmt.Errorf("get AWS keys: %w", err)
	}
	if keys.AccessKeyID == "" || keys.SecretAccessKey == "" {
		return ErrNoKeys
	}
	body := hex.EncodeToString(c.Body[:])
	at := c.Time.UTC().Format("20060102T150405Z")
	req.Header.Set("X-Amz-Date", at)
	req.Header.Set("X-Amz-Content-Sha256", body)
	if keys.SessionToken != "" {
		req.Header.Set("X-Amz-Security-Token", keys.SessionToken)
	}
	signed, headers := canonicalHeaders(req)
	path := escaped(req.URL.Path)
	if c.Service != "s3" {
		path = escaped(req.URL.EscapedPath()) // all services but this one have it escaped once more than it is sent
	}
	canonical := strings.Join([]string{req.Method, path, canonicalQuery(req.URL), headers, signed, body}, "\n")
	digest := sha256.Sum256([]byte(canonical))
	scope := strings.Join([]string{at[:8], c.Region, c.Service, "aws4_request"}, "/")
	text := strings.Join([]string{"AWS4-HMAC-SHA256", at, scope, hex.EncodeToString(digest[:])}, "\n")
	key := []byte("AWS4" + keys.SecretAccessKey)
	for part := range strings.SplitSeq(scope, "/") {
		key = mac(key, part)
	}
	req.Header.Set("Authorization", fmt.Sprintf("AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%x",
		keys.AccessKeyID, scope, signed, mac(key, text)))
	return nil
}

// Signer signs the calls to a service in a region, each at the time it is made.
func (a *Account) Signer(service, region string) func(context.Context, *http.Request, [sha256.Size]byte) error {
	return func(ctx context.Context, req *http.Request, body [sha256.Size]byte) error {
		return a.Sign(ctx, req, Call{Service: service, Region: region, Body: body, Time: time.Now()})
	}
}

// Segment escapes a text as one segment of a path: all of it that is no letter, digit or one of four marks.
func Segment(text string) string { return strings.ReplaceAll(escaped(text), "/", "%2F") }

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// canonicalHeaders returns the names of the headers that are signed, and a line for each.
func canonicalHeaders(req *http.Request) (names, lines string) {
	values := map[string]string{"host": req.Host}
	if req.Host == "" {
		values["host"] = req.URL.Host
	}
	for name, v := range req.Header {
		switch name {
		case "Authorization", "User-Agent", "Accept-Encoding": // changed on the way
		default:
			values[strings.ToLower(name)] = strings.Join(strings.Fields(strings.Join(v, ",")), " ")
		}
	}
	var sorted []string
	for name := range values {
		sorted = append(sorted, name)
	}
	slices.Sort(sorted)
	var b strings.Builder
	for _, name := range sorted {
		b.WriteString(name + ":" + values[name] + "\n")
	}
	return strings.Join(sorted, ";"), b.String()
}

// canonicalQuery returns the query in the order of its names. Encode sorts them, and writes a space as a plus sign.
func canonicalQuery(u *url.URL) string {
	return strings.ReplaceAll(u.Query().Encode(), "+", "%20")
}

// escaped escapes a path but for its slashes.
func escaped(path string) string {
	var b strings.Builder
	for _, c := range []byte(path) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("-_.~/", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	if b.Len() == 0 {
		return "/"
	}
	return b.String()
}
