package objects_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"assay/internal/keep/objects"
)

func env(pairs ...string) func(string) string {
	values := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		values[pairs[i]] = pairs[i+1]
	}
	return func(name string) string { return values[name] }
}

// The example pair of keys of Amazon's documentation; nobody's.
const id, secret = "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"

// TestSignaturesAreThoseOfTheDocumentation signs the examples of Amazon's page on Signature Version 4 with S3.
func TestSignaturesAreThoseOfTheDocumentation(t *testing.T) {
	t.Parallel()
	const host = "https://examplebucket.s3.amazonaws.com"
	for _, c := range []struct {
		method, url, body string
		header            http.Header
		want              string
	}{
		{"GET", host + "/test.txt", "", http.Header{"Range": {"bytes=0-9"}},
			"f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"},
		{"PUT", host + "/test%24file.text", "Welcome to Amazon S3.", http.Header{"Date": {"Fri, 24 May 2013 00:00:00 GMT"},
			"X-Amz-Storage-Class": {"REDUCED_REDUNDANCY"}}, "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"},
		{"GET", host + "/?lifecycle", "", nil, "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"},
		{"GET", host + "/?max-keys=2&prefix=J", "", nil, "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"},
	} {
		req, err := http.NewRequest(c.method, c.url, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		for name, values := range c.header {
			req.Header[name] = values
		}
		req.Header.Set("User-Agent", "changed by a proxy")
		a := objects.OpenAccount(env("AWS_ACCESS_KEY_ID", id, "AWS_SECRET_ACCESS_KEY", secret))
		call := objects.Call{Service: "s3", Region: "us-east-1", Body: sha256.Sum256([]byte(c.body)),
			Time: time.Date(2013, 5, 24, 0, 0, 0, 0, time.UTC)}
		if err := a.Sign(t.Context(), req, call); err != nil {
			t.Fatal(err)
		}
		auth := req.Header.Get("Authorization")
		if _, got, _ := strings.Cut(auth, "Signature="); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.method, c.url, auth, c.want)
		}
	}
}

// TestOtherServicesEscapeAPathTwice signs a path in which a name with a colon and a slash is one segment, and holds the
// signature against one made from the text that the service will make of it.
func TestOtherServicesEscapeAPathTwice(t *testing.T) {
	t.Parallel()
	req, err := http.NewRequest("POST", "https://bedrock/model/"+objects.Segment("a:0/b")+"/converse", nil)
	if err != nil {
		t.Fatal(err)
	}
	a := objects.FixedAccount(id, secret)
	if err := a.Sign(t.Context(), req,
		objects.Call{Service: "bedrock", Region: "eu-west-1", Body: sha256.Sum256(nil), Time: time.Unix(0, 0)}); err != nil {
		t.Fatal(err)
	}
	empty := fmt.Sprintf("%x", sha256.Sum256(nil))
	canonical := "POST\n/model/a%253A0%252Fb/converse\n\nhost:bedrock\nx-amz-content-sha256:" + empty +
		"\nx-amz-date:19700101T000000Z\n\nhost;x-amz-content-sha256;x-amz-date\n" + empty
	key := []byte("AWS4" + secret)
	for _, text := range []string{"19700101", "eu-west-1", "bedrock", "aws4_request",
		fmt.Sprintf("AWS4-HMAC-SHA256\n19700101T000000Z\n19700101/eu-west-1/bedrock/aws4_request\n%x", sha256.Sum256([]byte(canonical)))} {
		h := hmac.New(sha256.New, key)
		h.Write([]byte(text))
		key = h.Sum(nil)
	}
	if auth := req.Header.Get("Authorization"); !strings.HasSuffix(auth, fmt.Sprintf("Signature=%x", key)) {
		t.Errorf("%s, want %x", auth, key)
	}
}

func TestKeysComeFromAFileOrAreMissed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "credentials")
	if err := os.WriteFile(file, []byte("[other]\naws_access_key_id = AKOTHER\naws_secret_access_key = s\naws_session_token = tok\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequest("GET", "https://host/", nil)
	if err != nil {
		t.Fatal(err)
	}
	a := objects.OpenAccount(env("AWS_SHARED_CREDENTIALS_FILE", file, "AWS_PROFILE", "other"))
	if err := a.Sign(t.Context(), req, objects.Call{Service: "s3", Region: "r", Time: time.Unix(0, 0)}); err != nil {
		t.Fatal(err)
	}
	auth := req.Header.Get("Authorization")
	if !strings.Contains(auth, "Credential=AKOTHER/19700101/r/s3/aws4_request") || !strings.Contains(auth, "x-amz-security-token") ||
		req.Header.Get("X-Amz-Security-Token") != "tok" {
		t.Errorf("signed as %s", auth)
	}
}

// TestRolesOfWebIdentitiesAndContainersGiveKeys has a server hand out keys as Amazon's do for a web identity and in a container.
func TestRolesOfWebIdentitiesAndContainersGiveKeys(t *testing.T) {
	t.Parallel()
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("who-i-am"), 0o600); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		until := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
		switch {
		case r.URL.Path == "/container" && r.Header.Get("Authorization") == "who-i-am", r.URL.Path == "/open":
			fmt.Fprintf(w, `{"AccessKeyId":%q,"SecretAccessKey":%q,"Token":"session","Expiration":%q}`, id, secret, until)
		case r.FormValue("Action") == "AssumeRoleWithWebIdentity" && r.FormValue("WebIdentityToken") == "who-i-am" &&
			r.FormValue("RoleArn") == "arn:aws:iam::1:role/r":
			fmt.Fprintf(w, `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>%s</AccessKeyId><SecretAccessKey>%s</SecretAccessKey>`+
				`<SessionToken>session</SessionToken><Expiration>%s</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`, id, secret, until)
		default:
			w.WriteHeader(http.StatusForbidden)
		}
	}))
	t.Cleanup(server.Close)
	none := filepath.Join(t.TempDir(), "none")
	for name, pairs := range map[string][]string{
		"web identity": {"AWS_WEB_IDENTITY_TOKEN_FILE", token, "AWS_ROLE_ARN", "arn:aws:iam::1:role/r", "AWS_ENDPOINT_URL_STS", server.URL},
		"pod identity": {"AWS_CONTAINER_CREDENTIALS_FULL_URI", server.URL + "/container", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", token},
		"container":    {"AWS_CONTAINER_CREDENTIALS_FULL_URI", server.URL + "/open"},
	} {
		req, err := http.NewRequest("GET", "https://bedrock.us-east-1.amazonaws.com/x", nil)
		if err != nil {
			t.Fatal(err)
		}
		a := objects.OpenAccount(env(append(pairs, "AWS_SHARED_CREDENTIALS_FILE", none)...))
		if err := a.Sign(t.Context(), req, objects.Call{Service: "bedrock", Region: "us-east-1", Time: time.Now()}); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if auth := req.Header.Get("Authorization"); !strings.Contains(auth, "Credential="+id+"/") ||
			req.Header.Get("X-Amz-Security-Token") != "session" {
			t.Errorf("%s: signed with %s, token %q", name, auth, req.Header.Get("X-Amz-Security-Token"))
		}
	}
}
