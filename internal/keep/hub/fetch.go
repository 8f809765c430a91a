package hub

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"assay/internal/assay"
)

const (
	usualEndpoint = "https://huggingface.co"
	maxList       = 256 << 20 // bytes of a dataset's list of files
	maxRedirects  = 5
	maxCuts       = 5                // how often a file that was cut is gone on with
	silence       = 60 * time.Second // after which a connection counts as cut
	worthTelling  = 16 << 20         // bytes of a file that takes a while
)

// endpoint returns the address of the server.
func (h *Hub) endpoint() (*url.URL, error) {
	text, _ := h.Env("HF_ENDPOINT")
	u, err := url.Parse(strings.TrimRight(cmp.Or(text, usualEndpoint), "/"))
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, problem("such as "+usualEndpoint, "HF_ENDPOINT is no address of a server")
	}
	return u, nil
}

// ask returns the commit of a revision and its files.
func (h *Hub) ask(n name, revision string) (*tree, error) {
	resp, _, err := h.get(n, "api/datasets/"+n.dataset()+"/revision/"+url.PathEscape(revision), 0)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, h.refused(n, revision, resp)
	}
	var said struct {
		SHA      string `json:"sha"`
		Siblings []struct {
			Name string `json:"rfilename"`
		} `json:"siblings"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxList)).Decode(&said); err != nil || !isCommit(said.SHA) {
		return nil, cmp.Or(h.stopped(), problem("try again; HF_ENDPOINT names another server",
			"%s: the server's list of files cannot be read", n.at(revision, "")))
	}
	t := &tree{commit: said.SHA}
	for _, s := range said.Siblings {
		if safe(s.Name) {
			t.Files = append(t.Files, s.Name)
		}
	}
	slices.Sort(t.Files)
	if len(t.Files) == 0 {
		return nil, problem("", "%s has no files", n.at(revision, ""))
	}
	return t, nil
}

// get asks for a path of the server. The token goes to the server alone, and to no other that it leads to. What the server itself
// said of a file comes back apart: another one that has the bytes does not know it.
func (h *Hub) get(n name, at string, from int64) (*http.Response, http.Header, error) {
	base, err := h.endpoint()
	if err != nil {
		return nil, nil, err
	}
	to, err := url.Parse(base.String() + "/" + at)
	if err != nil {
		return nil, nil, err
	}
	var first http.Header
	for range maxRedirects {
		resp, err := h.call(base, to, from)
		if err != nil {
			return nil, nil, h.unreachable(n, to, err)
		}
		if first == nil {
			first = resp.Header
		}
		next, err := resp.Location()
		if resp.StatusCode < 300 || resp.StatusCode > 399 || err != nil {
			return resp, first, nil
		}
		resp.Body.Close()
		to = next
	}
	return nil, nil, problem("try again later", "%s: the server leads from one address to another", n)
}

func (h *Hub) call(base, to *url.URL, from int64) (*http.Response, error) {
	ctx, cancel := context.WithCancel(h.Context)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, to.String(), nil)
	if err != nil {
		cancel()
		return nil, err
	}
	req.Header.Set("User-Agent", "assay")
	req.Header.Set("Accept-Encoding", "identity")
	if from > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", from))
	}
	if token := h.token(); token != "" && to.Scheme == base.Scheme && to.Host == base.Host {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	quiet := time.AfterFunc(silence, cancel)
	resp, err := h.HTTP.RoundTrip(req)
	if err != nil {
		quiet.Stop()
		cancel()
		return nil, err
	}
	resp.Body = &body{resp.Body, quiet, cancel}
	return resp, nil
}

// body ends a call that is silent for too long.
type body struct {
	io.ReadCloser
	quiet  *time.Timer
	cancel func()
}

func (b *body) Read(p []byte) (int, error) {
	b.quiet.Reset(silence)
	return b.ReadCloser.Read(p)
}

func (b *body) Close() error {
	b.quiet.Stop()
	b.cancel()
	return b.ReadCloser.Close()
}

func (h *Hub) token() string {
	token, _ := h.Env("HF_TOKEN")
	return strings.TrimSpace(token)
}

// unreachable is the error of a server that did not answer. An address that the server led to may hold a signature, and is not repeated.
func (h *Hub) unreachable(n name, at *url.URL, err error) error {
	if stopped := h.stopped(); stopped != nil {
		return stopped
	}
	var call *url.Error
	if errors.As(err, &call) {
		err = call.Err
	}
	return problem("nothing of it is kept here yet: fetch it once with a network, and it is there without one",
		"%s: %s cannot be reached: %s", n, at.Host, assay.Clean(err.Error(), 200))
}

// refused is the error of an answer that is none.
func (h *Hub) refused(n name, revision string, resp *http.Response) error {
	host, code := resp.Request.URL.Host, resp.Header.Get("X-Error-Code")
	page := "https://huggingface.co/datasets/" + n.dataset()
	switch s := resp.StatusCode; {
	case s == http.StatusForbidden || code == "GatedRepo":
		return problem("ask for access at "+page+", and set HF_TOKEN to a token that may read it", "%s is gated", n.dataset())
	case s == http.StatusUnauthorized && h.token() != "":
		return problem("is the name right, and may the token in HF_TOKEN read it?", "%s does not show %s", host, n.dataset())
	case s == http.StatusUnauthorized:
		return problem("is the name right? one that is private needs a token in HF_TOKEN", "%s does not show %s", host, n.dataset())
	case s == http.StatusNotFound && code == "RevisionNotFound":
		return problem("a branch, a tag or a commit", "%s has no revision %q", n.dataset(), revision)
	case s == http.StatusNotFound:
		return problem("hf://OWNER/NAME, as its page is called", "%s has no dataset %s at %q", host, n.dataset(), revision)
	case s == http.StatusTooManyRequests || s >= 500:
		return problem("try again later", "%s: %s answered %s", n, host, resp.Status)
	}
	return problem("", "%s: %s answered %s", n, host, resp.Status)
}

// fetch brings a file of a commit here. One that was cut is gone on with, also by a later process.
func (h *Hub) fetch(n name, commit string) (kept, error) {
	id := sha256.Sum256([]byte(n.dataset() + "@" + commit + "/" + n.path))
	left := h.blob(hex.EncodeToString(id[:8]) + ".part")
	if err := os.MkdirAll(filepath.Dir(left), 0o700); err != nil {
		return kept{}, unkept(err)
	}
	own := fmt.Sprintf("%s-%d", left, os.Getpid())
	claim(left, own)
	f, err := os.OpenFile(own, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return kept{}, unkept(err)
	}
	d := download{Hub: h, name: n, commit: commit, file: f}
	k, err := d.run()
	if lost := f.Close(); err == nil && lost != nil {
		err = unkept(lost)
	}
	switch {
	case err != nil:
		_ = os.Rename(own, left) // for the next one
		return k, err
	case d.here:
		err = os.Remove(own)
	default:
		err = os.Rename(own, h.blob(k.SHA256))
	}
	if err != nil {
		return k, unkept(err)
	}
	return k, nil
}

// claim takes over what another process left: of several that try one goes on with what there is. One that was killed has not written
// for long.
func claim(left, own string) {
	begun, _ := os.ReadDir(filepath.Dir(left)) // none: it begins
	for _, e := range begun {
		name := filepath.Join(filepath.Dir(left), e.Name())
		info, err := e.Info()
		if err == nil && (name == left || strings.HasPrefix(name, left) && time.Since(info.ModTime()) > 2*silence) &&
			os.Rename(name, own) == nil {
			return
		}
	}
}

// download is a file on its way.
type download struct {
	*Hub
	name   name
	commit string
	file   *os.File
	size   int64 // of what is here
	told   bool
	here   bool // a file with these bytes was kept before
}

func (d *download) run() (kept, error) {
	var err error
	if d.size, err = d.file.Seek(0, io.SeekEnd); err != nil {
		return kept{}, unkept(err)
	}
	for anew, cuts := false, 0; ; cuts++ {
		begun := d.size
		want, total, err := d.more()
		if err != nil {
			return kept{}, err
		}
		if d.here {
			return kept{want, total}, nil
		}
		if total < 0 || d.size < total {
			if cuts == maxCuts || d.stopped() != nil {
				return kept{}, cmp.Or(d.stopped(), problem("type the same command: it goes on from there",
					"%s: the download was cut after %s", d.name, assay.Size(d.size)))
			}
			continue
		}
		k, same, err := d.sum(want)
		if err != nil || same {
			return k, err
		}
		if err := d.empty(); err != nil {
			return k, err
		}
		if begun == 0 && anew {
			return k, problem("try again later", "%s: what came twice has not the hash that the server names", d.name)
		}
		anew = true
	}
}

// more fetches what is missing. It returns the hash that the server names, and the size of the file; -1: it was cut, and is not known.
func (d *download) more() (want string, total int64, err error) {
	escaped := make([]string, 0, 4)
	for part := range strings.SplitSeq(d.name.path, "/") {
		escaped = append(escaped, url.PathEscape(part))
	}
	resp, first, err := d.get(d.name, "datasets/"+d.name.dataset()+"/resolve/"+d.commit+"/"+strings.Join(escaped, "/"), d.size)
	if err != nil {
		return "", 0, err
	}
	defer resp.Body.Close()
	switch whole := resp.Header.Get("Content-Range"); {
	case resp.StatusCode == http.StatusPartialContent && strings.HasPrefix(whole, fmt.Sprintf("bytes %d-", d.size)):
	case resp.StatusCode == http.StatusOK:
		if err := d.empty(); err != nil {
			return "", 0, err
		}
	case resp.StatusCode == http.StatusRequestedRangeNotSatisfiable && whole == fmt.Sprintf("bytes */%d", d.size):
		return tagOf(first), d.size, nil
	case resp.StatusCode == http.StatusPartialContent || resp.StatusCode == http.StatusRequestedRangeNotSatisfiable:
		return "", -1, d.empty()
	default:
		return "", 0, d.refused(d.name, d.commit, resp)
	}
	want, total = tagOf(first), -1
	if info, err := os.Stat(d.blob(want)); err == nil && isHash(want) {
		d.here = true
		return want, info.Size(), nil
	}
	if resp.ContentLength >= 0 {
		total = d.size + resp.ContentLength
	}
	if linked, err := strconv.ParseInt(first.Get("X-Linked-Size"), 10, 64); err == nil {
		total = linked
	}
	if d.Tell != nil && !d.told && total-d.size >= worthTelling {
		d.Tell(d.name.String(), total-d.size)
		d.told = true
	}
	got, err := io.Copy(d.file, resp.Body)
	if d.size += got; err == nil && total < 0 {
		total = d.size
	}
	if _, full := errors.AsType[*fs.PathError](err); full {
		return want, total, unkept(err)
	}
	return want, total, nil // an error of the connection shows as bytes that are missing
}

// empty has the file begin anew.
func (d *download) empty() error {
	d.size = 0
	_, err := d.file.Seek(0, io.SeekStart)
	if err = errors.Join(err, d.file.Truncate(0)); err != nil {
		return unkept(err)
	}
	return nil
}

// sum returns the hash of the file, and whether it is the one that the server names.
func (d *download) sum(want string) (kept, bool, error) {
	if _, err := d.file.Seek(0, io.SeekStart); err != nil {
		return kept{}, false, unkept(err)
	}
	all, named := sha256.New(), digest(want, d.size)
	if _, err := io.Copy(io.MultiWriter(all, named), d.file); err != nil {
		return kept{}, false, unkept(err)
	}
	return kept{hexOf(all), d.size}, !isHash(want) || hexOf(named) == want, nil
}

// tagOf returns the hash that a server names for a file: that of its bytes where they lie elsewhere, else its own.
func tagOf(head http.Header) string {
	return strings.Trim(strings.TrimPrefix(cmp.Or(head.Get("X-Linked-Etag"), head.Get("ETag")), "W/"), `"`)
}
