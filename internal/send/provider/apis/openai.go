package apis

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net/url"
	"strconv"
	"strings"

	"assay/internal/assay"
	"assay/internal/send/provider"
)

// openOpenAI opens OpenAI itself.
func openOpenAI(cfg provider.Config) (provider.Account, error) {
	auth := provider.Bearer(cfg.Key)
	if cfg.Org != "" {
		auth = auth.With("OpenAI-Organization", cfg.Org)
	}
	if cfg.Project != "" {
		auth = auth.With("OpenAI-Project", cfg.Project)
	}
	a, err := openFiles(cfg, auth, openAI{list: paged})
	if err == nil {
		a.Files = &openAIKeeper{a.Batch.(*openAI).api}
	}
	return a, err
}

// openAzure opens an Azure OpenAI resource on its v1 surface: model names are names of batch deployments.
func openAzure(cfg provider.Config) (provider.Account, error) {
	cfg.BaseURL = azureURL(cfg.BaseURL)
	return openFiles(cfg, provider.KeyHeader("api-key", cfg.Key), openAI{list: paged})
}

// azureURL adds the v1 surface to a resource's endpoint, as which it is usually given.
func azureURL(base string) string {
	if u, err := url.Parse(base); err == nil && strings.Trim(u.Path, "/") == "" {
		return strings.TrimRight(base, "/") + "/openai/v1"
	}
	return base
}

// openGroq opens Groq, whose batch list is documented to have one page. Its own clients are given the base URL without
// the path.
func openGroq(cfg provider.Config) (provider.Account, error) {
	const path = "/openai/v1"
	if base := strings.TrimRight(cfg.BaseURL, "/"); !strings.HasSuffix(base, path) {
		cfg.BaseURL = base + path
	}
	return openFiles(cfg, provider.Bearer(cfg.Key), openAI{list: onePage})
}

// openCompatible opens any other server with OpenAI's files, batches and chat.
func openCompatible(cfg provider.Config) (provider.Account, error) {
	return openFiles(cfg, provider.Bearer(cfg.Key), openAI{list: paged})
}

// openParasail opens Parasail, which sends whoever reads a result file to a signed address.
func openParasail(cfg provider.Config) (provider.Account, error) {
	return openFiles(cfg, provider.Bearer(cfg.Key), openAI{list: paged, moves: true})
}

func openFiles(cfg provider.Config, auth provider.Auth, o openAI) (provider.Account, error) {
	api, err := provider.NewClient(cfg, auth)
	if err != nil {
		return provider.Account{}, err
	}
	o.api, o.limits = api, cfg.Limits
	return account(cfg, &o, &asker{api: api, models: "/models"}), nil
}

// openAI drives jobs that are made of an uploaded file of lines.
type openAI struct {
	jobAPI
	list  paging
	moves bool // a result file is a redirect to where it lies
}

// pageSize is how many jobs are asked for at a time.
const pageSize = 100

// paging is the way a server lists jobs.
type paging string

const (
	paged   paging = "paged"
	onePage paging = "one page"
)

// Prepare uploads the lines under the stamp's name. Servers that process a file first are asked until they have.
func (o *openAI) Prepare(ctx context.Context, p provider.BatchInput, h provider.Handle) (provider.Handle, provider.Readiness, error) {
	var hold fileHandle
	h.Read(&hold)
	if hold.Ready {
		return h, provider.Ready, nil
	}
	var f openAIFile
	if hold.File != "" {
		_, err := o.api.JSON(ctx, provider.Call{Path: provider.Path("files", hold.File)}, &f)
		if gone(err) {
			return anew, provider.Later, nil // deleted or expired
		}
		if err != nil {
			return h, "", fmt.Errorf("look at the uploaded file: %w", err)
		}
		return readiness(f)
	}
	if err := upload(ctx, o.api, batchForm(p), provider.Path("files"), &f); err != nil {
		return h, "", err
	}
	return readiness(f)
}

// readiness reads the file object: only an explicit state means waiting, for many servers have none.
func readiness(f openAIFile) (provider.Handle, provider.Readiness, error) {
	if f.ID == "" {
		return anew, "", provider.BadAnswer("upload: the answer names no file")
	}
	switch strings.ToLower(f.Status) {
	case "pending", "running", "processing":
		return provider.NewHandle(fileHandle{File: f.ID}), provider.Later, nil
	case "error", "failed", "deleted":
		return anew, "", fmt.Errorf("the uploaded file is not usable: %w", &assay.Fault{
			Class: assay.FaultInvalid, Code: "file_" + strings.ToLower(f.Status), Message: clean(string(f.StatusDetails)),
		})
	}
	return provider.NewHandle(fileHandle{File: f.ID, Ready: true}), provider.Ready, nil
}

// Launch creates the batch, with the stamp as its metadata.
func (o *openAI) Launch(ctx context.Context, p provider.BatchInput, h provider.Handle) provider.Receipt {
	var hold fileHandle
	h.Read(&hold)
	if hold.File == "" {
		return provider.Unprepared()
	}
	return launchJSON(ctx, o.api, provider.Path("batches"), openAICreate{
		Input: hold.File, Endpoint: p.Wire.URL, Window: window(o.limits), Metadata: p.Metadata(),
	}, &openAIBatch{})
}

// Check reads the batch.
func (o *openAI) Check(ctx context.Context, job provider.Job) (provider.Status, error) {
	var b openAIBatch
	if _, err := o.api.JSON(ctx, provider.Call{Path: provider.Path("batches", job.ID)}, &b); err != nil {
		return provider.Status{}, fmt.Errorf("check: %w", err)
	}
	return kept(b.status(), o.limits), nil
}

// Fetch reads a file, and holds it against the size that the server gives for it.
func (o *openAI) Fetch(ctx context.Context, _ provider.Job, part provider.Part, into provider.Sink) error {
	call := provider.Call{Path: provider.Path("files", part.Ref, "content")}
	if o.moves {
		var err error
		if call, err = moved(ctx, o.api, call); err != nil {
			return fmt.Errorf("fetch %s: %w", part.Name, err)
		}
	}
	return fetchFrom(ctx, o.api, provider.Path("files", part.Ref), call, part, into)
}

// Decode reads lines of the OpenAI shape.
func (o *openAI) Decode(job provider.Job, _ provider.Part, r io.Reader) iter.Seq2[provider.Line, error] {
	return provider.DecodeLines(job.Wire, r)
}

// Cancel asks for the end of the batch, which takes up to ten minutes.
func (o *openAI) Cancel(ctx context.Context, job provider.Job) error {
	return post(ctx, o.api, provider.Path("batches", job.ID, "cancel"))
}

// Remove deletes the input file and the result files; a batch itself cannot be deleted.
func (o *openAI) Remove(ctx context.Context, job provider.Job) error {
	var b openAIBatch
	if _, err := o.api.JSON(ctx, provider.Call{Path: provider.Path("batches", job.ID)}, &b); err != nil && !gone(err) {
		return fmt.Errorf("remove: %w", err)
	}
	return removeFiles(ctx, o.api, b.Input, b.Output, b.ErrorFile)
}

// Fence deletes the uploaded file: a batch that is made of it then fails at its validation.
func (o *openAI) Fence(ctx context.Context, h provider.Handle) error {
	return fenceFile(ctx, o.api, h, filePath)
}

// List walks the batches, newest first.
func (o *openAI) List(ctx context.Context) iter.Seq2[provider.Status, error] {
	return pages(func(after string) (page, error) {
		var l openAIList
		q := url.Values{}
		if o.list != onePage {
			q.Set("limit", strconv.Itoa(pageSize))
		}
		if after != "" {
			q.Set("after", after)
		}
		if _, err := o.api.JSON(ctx, provider.Call{Path: provider.Path("batches"), Query: q}, &l); err != nil {
			return page{}, fmt.Errorf("list: %w", err)
		}
		p := page{}
		for _, b := range l.Data {
			p.jobs = append(p.jobs, b.listed())
		}
		full := len(l.Data) >= pageSize
		if o.list == onePage {
			full = fullPage(len(l.Data))
		}
		return p.follow(l.HasMore, full), nil
	})
}

// Stamped is true: batches carry metadata.
func (o *openAI) Stamped() bool { return true }

// Cursor returns the newest batch.
func (o *openAI) Cursor(ctx context.Context) (string, error) { return provider.Newest(o.List(ctx)) }

// Find matches the stamp in the metadata, or the uploaded file where a server drops metadata.
func (o *openAI) Find(ctx context.Context, s provider.Search) (provider.Found, error) {
	return provider.Trail{Jobs: o.List(ctx), Sorted: o.list != onePage, Match: sameInput(s)}.Stamped(s)
}
