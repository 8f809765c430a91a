package apis

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"assay/internal/assay"
	"assay/internal/send/provider"
	"assay/internal/study/catalog"
)

// The calls below are those that several vendors make in the same way.

// jobAPI holds what every vendor of batches needs: a client, and the catalogue's row of limits.
type jobAPI struct {
	api    *provider.Client
	limits catalog.Limits
}

// Limits returns the catalogue's row.
func (j *jobAPI) Limits() catalog.Limits { return j.limits }

// namedJobs carry the name of their stamp, and can be found by it: no cursor is needed.
type namedJobs struct{ jobAPI }

// Stamped is true: a job has a name.
func (n *namedJobs) Stamped() bool { return true }

// Cursor is empty: the server filters by name, or its list has no promised order and is read whole.
func (n *namedJobs) Cursor(context.Context) (string, error) { return "", nil }

// documentJobs go out as one document.
type documentJobs struct{ jobAPI }

// Prepare has nothing to do: the document goes out with the launch.
func (d *documentJobs) Prepare(_ context.Context, _ provider.BatchInput, h provider.Handle) (provider.Handle, provider.Readiness, error) {
	return h, provider.Ready, nil
}

// openBearer opens a vendor that takes a bearer key and answers live as OpenAI does.
func openBearer(cfg provider.Config, batch func(jobAPI) provider.Provider) (provider.Account, error) {
	api, err := provider.NewClient(cfg, provider.Bearer(cfg.Key))
	if err != nil {
		return provider.Account{}, err
	}
	return account(cfg, batch(jobAPI{api, cfg.Limits}), &asker{api: api, models: "/models"}), nil
}

// account returns what most vendors open.
func account(cfg provider.Config, batch provider.Provider, live provider.Asker) provider.Account {
	return provider.Account{BaseURL: cfg.BaseURL, Batch: batch, Live: live}
}

// clean makes a provider's words fit to print.
func clean(s string) string { return assay.Clean(s, 500) }

// gone reports whether an error means that the thing is not there.
func gone(err error) bool {
	f := provider.FaultOf(err)
	return f != nil && f.Class == assay.FaultGone
}

// batchForm returns the upload of a segment's lines under the name of its stamp.
func batchForm(p provider.BatchInput) provider.Form {
	return provider.Form{
		Fields: [][2]string{{"purpose", "batch"}},
		Field:  "file", Name: p.Stamp.Name() + ".jsonl", Type: "application/jsonl", File: p.Body,
	}
}

// anew is the handle of a segment whose upload has to begin again. It is not empty, so that it takes the place of the
// one that led nowhere.
const anew provider.Handle = "{}"

// upload sends a form and reads the answer.
func upload(ctx context.Context, api *provider.Client, form provider.Form, path string, into any) error {
	call, err := form.Call(path)
	if err != nil {
		return err
	}
	if _, err := api.JSON(ctx, call, into); err != nil {
		return fmt.Errorf("upload: %w", err)
	}
	return nil
}

// launchJSON launches with a small body.
func launchJSON(ctx context.Context, api *provider.Client, path string, body any, answer provider.Made) provider.Receipt {
	call, err := postJSON(path, body)
	if err != nil {
		return provider.NotSent(err)
	}
	return api.Launch(ctx, call, answer)
}

// launchBody launches with the batch input itself.
func launchBody(ctx context.Context, api *provider.Client, path string, body provider.Source, answer provider.Made) provider.Receipt {
	r, err := body.From(0)
	if err != nil {
		return provider.NotSent(err)
	}
	return api.Launch(ctx, provider.Call{
		Method: http.MethodPost, Path: path, Type: "application/json", Body: r, Length: body.Size,
	}, answer)
}

func postJSON(path string, body any) (provider.Call, error) {
	r, n, err := provider.JSONBody(body)
	return provider.Call{Method: http.MethodPost, Path: path, Type: "application/json", Body: r, Length: n}, err
}

// post makes a call without a body.
func post(ctx context.Context, api *provider.Client, path string) error {
	_, err := api.JSON(ctx, provider.Call{Method: http.MethodPost, Path: path}, nil)
	return err
}

// remove deletes; what is gone already is deleted.
func remove(ctx context.Context, api *provider.Client, path string) error {
	if _, err := api.JSON(ctx, provider.Call{Method: http.MethodDelete, Path: path}, nil); err != nil && !gone(err) {
		return fmt.Errorf("remove: %w", err)
	}
	return nil
}

// removeFiles deletes files; empty ids name none.
func removeFiles(ctx context.Context, api *provider.Client, ids ...string) error {
	for _, id := range ids {
		if id == "" {
			continue
		}
		if err := remove(ctx, api, provider.Path("files", id)); err != nil {
			return err
		}
	}
	return nil
}

// fenceFile deletes the file of a handle, and makes sure that it is gone: some servers delete nothing, and answer as if
// there were no such file.
func fenceFile(ctx context.Context, api *provider.Client, h provider.Handle, path func(id string) string) error {
	var hold fileHandle
	if h.Read(&hold); hold.File == "" {
		return nil
	}
	if err := remove(ctx, api, path(hold.File)); err != nil {
		return err
	}
	_, err := api.JSON(ctx, provider.Call{Path: path(hold.File)}, nil)
	switch {
	case gone(err):
		return nil
	case err != nil:
		return fmt.Errorf("look whether the file is gone: %w", err)
	}
	return fmt.Errorf("remove: %w", &assay.Fault{Class: assay.FaultUnknown, Code: "not_deleted", Message: "the file is still there"})
}

// filePath returns where OpenAI and its relatives have a file.
func filePath(id string) string { return provider.Path("files", id) }

// fetchFile downloads a file of an OpenAI-like server. Where the download announces no length, the file object has it.
func fetchFile(ctx context.Context, api *provider.Client, path string, part provider.Part, into provider.Sink) error {
	return fetchFrom(ctx, api, path, provider.Call{Path: path + "/content"}, part, into)
}

// moved returns the call that a redirect asks for: without the key, at the address that it names.
func moved(ctx context.Context, api *provider.Client, call provider.Call) (provider.Call, error) {
	call.Accept = []int{http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect}
	resp, err := api.Do(ctx, call)
	if err != nil {
		return call, err
	}
	resp.Body.Close()
	call.Accept = nil
	if resp.StatusCode/100 == 2 { // it is there after all
		return call, nil
	}
	at := resp.Header.Get("Location")
	if at == "" {
		return call, provider.BadAnswer("the redirect says not where")
	}
	return provider.Call{Foreign: at}, nil
}

// fetchFrom reads a file by a call, and holds it against the size that the file's object gives.
func fetchFrom(ctx context.Context, api *provider.Client, path string, call provider.Call, part provider.Part, into provider.Sink) error {
	want := part.Whole()
	want.Ask = func(ctx context.Context) (int64, error) {
		var f openAIFile
		_, err := api.JSON(ctx, provider.Call{Path: path}, &f)
		if fault := provider.FaultOf(err); fault != nil &&
			(fault.Status == http.StatusNotFound || fault.Status == http.StatusMethodNotAllowed) {
			return 0, nil // a server without file objects
		}
		return int64(f.Bytes), err
	}
	if err := api.Download(ctx, call, want, into); err != nil {
		return fmt.Errorf("fetch %s: %w", part.Name, err)
	}
	return nil
}

// page is one answer of a list.
type page struct {
	jobs    []provider.Status
	next    string // where the next one begins; empty: this is the last
	partial string // why there may be more that cannot be reached; empty: there is none
}

// follow returns the page after one whose jobs are followed by the last of their ids. If the server does not report
// whether there is more, a full page may have a next one.
func (p page) follow(more *bool, full bool) page {
	switch {
	case more != nil && !*more || more == nil && !full:
	case len(p.jobs) == 0:
		p.partial = "it says that there is more, and not where"
	default:
		p.next = p.jobs[len(p.jobs)-1].Job
	}
	return p
}

// fullPage reports whether a list that cannot be continued has as many entries as servers usually put on a page.
func fullPage(n int) bool {
	return slices.Contains([]int{20, 50, 100, 200, 250, 500, 1000, 2000, 5000, 10000}, n)
}

// pages walks a list. A server that names a page for the second time is stopped: its list would never end.
func pages(read func(after string) (page, error)) iter.Seq2[provider.Status, error] {
	return func(yield func(provider.Status, error) bool) {
		seen := map[string]bool{}
		for after := ""; ; {
			p, err := read(after)
			if err != nil {
				yield(provider.Status{}, err)
				return
			}
			for _, st := range p.jobs {
				if !yield(st, nil) {
					return
				}
			}
			if p.partial != "" {
				yield(provider.Status{}, provider.Partial(p.partial))
				return
			}
			if p.next == "" {
				return
			}
			if seen[p.next] {
				yield(provider.Status{}, provider.Partial("the pages go round in a circle"))
				return
			}
			after, seen[p.next] = p.next, true
		}
	}
}

// listed returns a status as a list shows it.
func listed(s provider.Status) provider.Status {
	s.Parts, s.Problems = nil, nil
	return s
}

// kept returns a status with the time until which results are kept, if the provider does not report it.
func kept(s provider.Status, l catalog.Limits) provider.Status {
	if from := latest(s.Created, s.Ended); s.CollectBefore.IsZero() && s.State.Terminal() && !from.IsZero() && l.Retention > 0 {
		s.CollectBefore = from.Add(l.Retention)
	}
	return s
}

// sameInput matches a job by its stamp, by the name of its input file, or by the file itself.
func sameInput(s provider.Search) func(provider.Status) bool {
	files := map[string]bool{}
	for _, h := range append([]provider.Handle{s.Handle}, s.Lost...) {
		var hold fileHandle
		if h.Read(&hold); hold.File != "" {
			files[hold.File] = true
		}
	}
	return func(st provider.Status) bool {
		return st.Stamp.Same(s.Stamp) || s.Stamp.Matches(st.Name) || files[st.Input]
	}
}

// sameName matches a job by its display name.
func sameName(s provider.Search) func(provider.Status) bool {
	return func(st provider.Status) bool { return s.Stamp.Matches(st.Name) }
}

// ours reports whether the first results have the nonce of the search: all ids of a segment do. Missing results are an
// error.
func ours(s provider.Search, lines iter.Seq2[provider.Line, error]) (bool, error) {
	const enough = 20 // a few lines may be broken
	n := 0
	for line, err := range lines {
		if err != nil {
			return false, err
		}
		if nonce, _, err := assay.ParseCustomID(line.CustomID); err == nil {
			return nonce == s.Nonce, nil
		}
		if n++; n == enough {
			break
		}
	}
	if n == 0 {
		return false, provider.BadAnswer("the results are empty")
	}
	return false, nil
}

// latest returns the last of some times.
func latest(times ...time.Time) time.Time {
	var last time.Time
	for _, t := range times {
		if t.After(last) {
			last = t
		}
	}
	return last
}

// resource returns the path of a resource that goes by its full name, such as batches/abc.
func resource(version, name string) string {
	return provider.Path(append([]string{version}, strings.Split(name, "/")...)...)
}

// window returns a completion window as OpenAI and its relatives write it: 24h, or 7d.
func window(l catalog.Limits) string {
	const day = 24 * time.Hour
	switch d := l.Window; {
	case d == 0:
		return "24h"
	case d > day && d%day == 0 && !l.Hours:
		return strconv.Itoa(int(d/day)) + "d"
	default:
		return strconv.Itoa(int(d/time.Hour)) + "h"
	}
}
