package apis

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"

	"assay/internal/assay"
	"assay/internal/send/provider"
)

// openAIKeeper keeps pictures and documents at OpenAI.
type openAIKeeper struct{ api *provider.Client }

// Keep uploads a file that goes away by itself.
func (k *openAIKeeper) Keep(ctx context.Context, f provider.Upload) (provider.Kept, error) {
	purpose := "user_data"
	if f.Kind == assay.MediaImage {
		purpose = "vision"
	}
	var made openAIFile
	err := upload(ctx, k.api, provider.Form{Field: "file", Name: fileName(f), Type: f.Type, File: f.Body, Fields: [][2]string{
		{"purpose", purpose}, {"expires_after[anchor]", "created_at"}, {"expires_after[seconds]", seconds(f)}}},
		provider.Path("files"), &made)
	if err == nil && made.ID == "" {
		err = provider.BadAnswer("upload: the answer names no file")
	}
	return made.kept(), err
}

// Kept lists them.
func (k *openAIKeeper) Kept(ctx context.Context) iter.Seq2[provider.Kept, error] {
	return files(func(after string) ([]provider.Kept, string, error) {
		q := url.Values{"limit": {"10000"}}
		if after != "" {
			q.Set("after", after)
		}
		var l struct {
			Data []openAIFile `json:"data"`
			More bool         `json:"has_more"`
		}
		_, err := k.api.JSON(ctx, provider.Call{Path: provider.Path("files"), Query: q}, &l)
		next := ""
		if n := len(l.Data); l.More && n > 0 {
			next = l.Data[n-1].ID
		}
		return all(l.Data, (*openAIFile).kept), next, err
	})
}

// Forget deletes one.
func (k *openAIKeeper) Forget(ctx context.Context, id string) error {
	return remove(ctx, k.api, provider.Path("files", id))
}

func (f *openAIFile) kept() provider.Kept {
	return provider.Kept{ID: f.ID, Name: ourName(f.Name), Bytes: int64(f.Bytes), Expires: f.Expires.Time,
		Ready: f.Status == "" || f.Status == "processed" || f.Status == "uploaded"}
}

// anthropicKeeper keeps pictures and documents at Anthropic, for all of the workspace.
type anthropicKeeper struct{ api *provider.Client }

// Keep uploads a file that goes away by itself.
func (k *anthropicKeeper) Keep(ctx context.Context, f provider.Upload) (provider.Kept, error) {
	var made anthropicFile
	err := upload(ctx, k.api, provider.Form{Field: "file", Name: fileName(f), Type: f.Type, File: f.Body,
		Fields: [][2]string{{"expires_in_seconds", seconds(f)}}}, provider.Path("v1", "files"), &made)
	if err == nil && made.ID == "" {
		err = provider.BadAnswer("upload: the answer names no file")
	}
	return made.kept(), err
}

// Kept lists them.
func (k *anthropicKeeper) Kept(ctx context.Context) iter.Seq2[provider.Kept, error] {
	return files(func(after string) ([]provider.Kept, string, error) {
		q := url.Values{"limit": {"1000"}}
		if after != "" {
			q.Set("page", after)
		}
		var l struct {
			Data []anthropicFile `json:"data"`
			Next string          `json:"next_page"`
		}
		_, err := k.api.JSON(ctx, provider.Call{Path: provider.Path("v1", "files"), Query: q}, &l)
		return all(l.Data, (*anthropicFile).kept), l.Next, err
	})
}

// Forget deletes one.
func (k *anthropicKeeper) Forget(ctx context.Context, id string) error {
	return remove(ctx, k.api, provider.Path("v1", "files", id))
}

type anthropicFile struct {
	ID      string          `json:"id"`
	Name    string          `json:"filename"`
	Bytes   provider.Number `json:"size_bytes"`
	Expires provider.Moment `json:"expires_at"`
}

func (f *anthropicFile) kept() provider.Kept {
	return provider.Kept{ID: f.ID, Name: ourName(f.Name), Bytes: int64(f.Bytes), Ready: true, Expires: f.Expires.Time}
}

// geminiKeeper keeps files at Gemini, for two days. Their ids are ours: a file that was uploaded before is found by the second upload.
type geminiKeeper struct{ *gemini }

// Keep uploads a file, or finds it under its name.
func (k *geminiKeeper) Keep(ctx context.Context, f provider.Upload) (provider.Kept, error) {
	name := "files/" + f.Name
	session, err := k.session(ctx, name, f.Name, f.Type, f.Body.Size)
	if conflict(err) {
		var there geminiFile
		if _, err := k.api.JSON(ctx, provider.Call{Path: resource(k.version, name)}, &there); err != nil {
			return provider.Kept{}, fmt.Errorf("look at the uploaded file: %w", err)
		}
		return there.kept(), nil
	}
	if err != nil {
		return provider.Kept{}, err
	}
	body, err := f.Body.From(0)
	if err != nil {
		return provider.Kept{}, err
	}
	var made geminiUploaded
	_, err = k.api.JSON(ctx, provider.Call{Method: http.MethodPost, Session: session, Body: body, Length: f.Body.Size,
		Header: map[string]string{"X-Goog-Upload-Command": "upload, finalize", "X-Goog-Upload-Offset": "0"}}, &made)
	if err == nil && made.File.URI == "" {
		err = provider.BadAnswer("upload: the answer names no file")
	}
	if err != nil {
		return provider.Kept{}, fmt.Errorf("upload: %w", err)
	}
	return made.File.kept(), nil
}

// Kept lists them.
func (k *geminiKeeper) Kept(ctx context.Context) iter.Seq2[provider.Kept, error] {
	return files(func(after string) ([]provider.Kept, string, error) {
		q := url.Values{"pageSize": {"100"}}
		if after != "" {
			q.Set("pageToken", after)
		}
		var l struct {
			Files []geminiFile `json:"files"`
			Next  string       `json:"nextPageToken"`
		}
		_, err := k.api.JSON(ctx, provider.Call{Path: provider.Path(k.version, "files"), Query: q}, &l)
		return all(l.Files, (*geminiFile).kept), l.Next, err
	})
}

// Forget deletes one.
func (k *geminiKeeper) Forget(ctx context.Context, id string) error {
	err := remove(ctx, k.api, resource(k.version, "files/"+path.Base(id)))
	if missing(err) {
		return nil
	}
	return err
}

func (f *geminiFile) kept() provider.Kept {
	return provider.Kept{ID: f.URI, Name: strings.TrimPrefix(f.Name, "files/"), Bytes: int64(f.Size), Expires: f.Expires.Time,
		Ready: strings.HasSuffix(f.State, "ACTIVE")}
}

// seconds is how long a file is to be kept.
func seconds(f provider.Upload) string { return strconv.Itoa(int(f.Lasts.Seconds())) }

// fileName returns the name of an upload with the ending that goes with its type.
func fileName(f provider.Upload) string {
	_, ending, _ := strings.Cut(f.Type, "/")
	return f.Name + "." + ending
}

// ourName returns the name without its ending.
func ourName(name string) string { name, _, _ = strings.Cut(name, "."); return name }

func all[T any](list []T, by func(*T) provider.Kept) []provider.Kept {
	out := make([]provider.Kept, len(list))
	for i := range list {
		out[i] = by(&list[i])
	}
	return out
}

// files walks over the pages of a list of files.
func files(read func(after string) ([]provider.Kept, string, error)) iter.Seq2[provider.Kept, error] {
	return func(yield func(provider.Kept, error) bool) {
		seen := map[string]bool{}
		for after := ""; ; {
			list, next, err := read(after)
			if err != nil {
				yield(provider.Kept{}, fmt.Errorf("list files: %w", err))
				return
			}
			for _, f := range list {
				if !yield(f, nil) {
					return
				}
			}
			if next == "" {
				return
			}
			if seen[next] {
				yield(provider.Kept{}, provider.Partial("the pages go round in a circle"))
				return
			}
			seen[next], after = true, next
		}
	}
}
