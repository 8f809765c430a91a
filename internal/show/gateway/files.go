package gateway

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"io"
	"io/fs"
	"mime"
	"mime/multipart"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/store"
	"assay/internal/show/gateway/openai"
)

// maxLines is how many requests OpenAI's batches have at most.
const maxLines = 50_000

// purposeBatch is the purpose of files that clients send.
const purposeBatch = "batch"

// fileObject is a file as clients see it.
type fileObject struct {
	ID       string `json:"id"`
	Object   string `json:"object"`
	Bytes    int64  `json:"bytes"`
	Created  int64  `json:"created_at"`
	Filename string `json:"filename"`
	Purpose  string `json:"purpose"`
	Status   string `json:"status"`
}

func objectOf(f store.ClientFile) fileObject {
	return fileObject{ID: f.ID, Object: "file", Bytes: f.Bytes, Created: f.Created.Unix(), Filename: f.Name, Purpose: f.Purpose,
		Status: "processed"}
}

// newID returns an id without a meaning.
func newID() (string, error) {
	var random [15]byte
	if _, err := rand.Read(random[:]); err != nil {
		return "", err
	}
	return strings.ToLower(base32.StdEncoding.EncodeToString(random[:])), nil
}

// createFile keeps a file as it comes in: nothing of it is held in memory, and the purpose may come after it.
func (s *Server) createFile(ctx context.Context, c *call) (any, error) {
	if kind, _, err := mime.ParseMediaType(c.Header.Get("Content-Type")); err != nil || kind != "multipart/form-data" {
		return nil, openai.Wrong(http.StatusBadRequest, "", "", "The request must be multipart/form-data.")
	}
	c.Body = http.MaxBytesReader(nil, c.Body, openai.MaxFile+1<<20)
	parts, err := c.MultipartReader()
	if err != nil {
		return nil, openai.Wrong(http.StatusBadRequest, "", "", "The form cannot be read: %s.", err)
	}
	id, err := newID()
	if err != nil {
		return nil, err
	}
	if err := s.roomFor(ctx, c.user); err != nil {
		return nil, err
	}
	up := &uploading{s: s, ctx: ctx, id: "file-" + id}
	if err := s.Home.Ledger.Clients.BeginClientFile(ctx, c.user.Name, up.id); err != nil {
		return nil, err
	}
	err = up.read(parts)
	if err == nil {
		err = up.commit(c.user)
	}
	if err != nil {
		return nil, errors.Join(err, s.giveUp(context.WithoutCancel(ctx), store.ClientFile{ID: up.id, Owner: c.user.Name}, up.drop()))
	}
	return s.file(ctx, c.user, up.id)
}

// roomFor refuses a file of a user who has as many bytes as they may have.
func (s *Server) roomFor(ctx context.Context, u *User) error {
	if s.Storage == 0 {
		return nil
	}
	has, err := s.Home.Ledger.Clients.StoredBytes(ctx, u.Name)
	if err == nil && has >= s.Storage {
		err = tooMuch(s.Storage)
	}
	return err
}

func tooMuch(most int64) error {
	return openai.Wrong(http.StatusBadRequest, "storage_limit_exceeded", "file",
		"You have reached your storage limit of %d bytes on this gateway. Delete files that you no longer need.", most)
}

// giveUp takes away what came of a file that was not kept, after an error of its own.
func (s *Server) giveUp(ctx context.Context, f store.ClientFile, err error) error {
	err = errors.Join(err, s.Home.Files.Remove(ctx, artifacts.Shelf, f.ID+".jsonl"))
	if gone := s.Home.Ledger.Clients.DeleteClientFile(ctx, f.Owner, f.ID); !errors.Is(gone, store.ErrNotFound) {
		err = errors.Join(err, gone)
	}
	return err
}

// longestUpload is how long a file may take to be sent: what was begun before that is given up.
const longestUpload = 6 * time.Hour

// sweep takes away the bytes of uploads that were cut off with their gateway.
func (s *Server) sweep(ctx context.Context) error {
	left, err := s.Home.Ledger.Clients.UnfinishedClientFiles(ctx, s.now().Add(-longestUpload))
	for _, f := range left {
		err = errors.Join(err, s.giveUp(ctx, f, nil))
	}
	return err
}

// uploading is a file on its way in.
type uploading struct {
	s             *Server
	ctx           context.Context // of the call
	id            string
	name, purpose string
	sink          artifacts.Sink
	whole         bool // the sink is closed
}

func (u *uploading) drop() error {
	if u.sink == nil || u.whole {
		return nil
	}
	return u.sink.Discard()
}

// commit makes the file whole, and its owner's.
func (u *uploading) commit(owner *User) error {
	f := store.ClientFile{ID: u.id, Owner: owner.Name, Name: u.name, Purpose: u.purpose, Bytes: u.sink.Size()}
	u.whole = true
	if _, err := u.sink.Commit(); err != nil {
		return err
	}
	err := u.s.Home.Ledger.Clients.KeepClientFile(u.ctx, f, u.s.Storage)
	if errors.Is(err, store.ErrStorage) {
		err = tooMuch(u.s.Storage)
	}
	return err
}

func (u *uploading) read(parts *multipart.Reader) error {
	for {
		p, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return openai.CutOff(err)
		}
		if p.FormName() == "file" && u.sink == nil {
			if err := u.keep(p); err != nil {
				return err
			}
			continue
		}
		value, err := io.ReadAll(io.LimitReader(p, 1<<10))
		if err != nil {
			return openai.CutOff(err)
		}
		if p.FormName() == "purpose" {
			u.purpose = string(value)
		}
	}
	switch {
	case u.sink == nil:
		return openai.Wrong(http.StatusBadRequest, "missing_required_parameter", "file", "'file' is a required property")
	case u.purpose == "":
		return openai.Wrong(http.StatusBadRequest, "missing_required_parameter", "purpose", "'purpose' is a required property")
	case u.purpose != purposeBatch:
		return openai.Wrong(http.StatusBadRequest, "invalid_value", "purpose", "'%s' is not one of ['batch'] - 'purpose'",
			assay.Clean(u.purpose, 60))
	case u.sink.Size() == 0:
		return openai.Wrong(http.StatusBadRequest, "empty_file", "file", "The file is empty.")
	}
	return nil
}

// storing is a writer that remembers why it could not write.
type storing struct {
	to  io.Writer
	err error
}

func (s *storing) Write(p []byte) (int, error) {
	n, err := s.to.Write(p)
	s.err = errors.Join(s.err, err)
	return n, err
}

func (u *uploading) keep(p *multipart.Part) (err error) {
	u.name = assay.Clean(filepath.Base(strings.ReplaceAll(p.FileName(), `\`, "/")), 255)
	if u.sink, err = artifacts.Create(u.ctx, u.s.Home.Files, artifacts.Shelf, u.id+".jsonl"); err != nil {
		return err
	}
	into := &storing{to: u.sink}
	n, err := io.Copy(into, io.LimitReader(p, openai.MaxFile+1))
	switch {
	case into.err != nil:
		return into.err // not the client's fault
	case err != nil:
		return openai.CutOff(err)
	case n > openai.MaxFile:
		return openai.TooLarge()
	}
	return nil
}

func (s *Server) file(ctx context.Context, u *User, id string) (fileObject, error) {
	f, err := s.Home.Ledger.Clients.ClientFile(ctx, u.Name, id)
	return objectOf(f), openai.Missing(err, "File", id)
}

func (s *Server) retrieveFile(ctx context.Context, c *call) (any, error) {
	return s.file(ctx, c.user, c.PathValue("id"))
}

func (s *Server) listFiles(ctx context.Context, c *call) (any, error) {
	limit, after, err := openai.Paging(c.URL.Query(), 10_000, 10_000)
	if err != nil {
		return nil, err
	}
	var before int64
	if after != "" {
		f, err := s.Home.Ledger.Clients.ClientFile(ctx, c.user.Name, after)
		if err != nil {
			return nil, openai.Missing(err, "File", after)
		}
		before = f.No
	}
	all, err := s.Home.Ledger.Clients.ClientFiles(ctx, c.user.Name, c.URL.Query().Get("purpose"), before, limit+1)
	if err != nil {
		return nil, err
	}
	out := openai.List[fileObject]{Object: "list", Data: []fileObject{}, HasMore: len(all) > limit}
	for _, f := range all[:min(limit, len(all))] {
		out.Data = append(out.Data, objectOf(f))
	}
	if n := len(out.Data); n > 0 {
		out.FirstID, out.LastID = &out.Data[0].ID, &out.Data[n-1].ID
	}
	return out, nil
}

func (s *Server) deleteFile(ctx context.Context, c *call) (any, error) {
	id := c.PathValue("id")
	f, err := s.Home.Ledger.Clients.ClientFile(ctx, c.user.Name, id)
	if err != nil {
		return nil, openai.Missing(err, "File", id)
	}
	if err := s.Home.Ledger.Clients.DeleteClientFile(ctx, c.user.Name, id); err != nil {
		return nil, openai.Missing(err, "File", id)
	}
	run, name, err := s.bytesOf(ctx, f)
	if err == nil {
		err = s.Home.Files.Remove(ctx, run, name)
	}
	if err != nil {
		return nil, err
	}
	return map[string]any{"id": id, "object": "file", "deleted": true}, nil
}

// bytesOf returns where the bytes of a file lie among the artifacts.
func (s *Server) bytesOf(ctx context.Context, f store.ClientFile) (run, name string, err error) {
	if f.Run == 0 {
		return artifacts.Shelf, f.ID + ".jsonl", nil
	}
	of, err := s.Home.Ledger.Reader.Run(ctx, f.Run)
	return of.ID, f.ID + ".jsonl", err
}

// open opens the bytes of a file.
func (s *Server) open(ctx context.Context, f store.ClientFile) (artifacts.File, error) {
	run, name, err := s.bytesOf(ctx, f)
	if err != nil {
		return nil, err
	}
	file, err := s.Home.Files.Open(ctx, run, name)
	if errors.Is(err, fs.ErrNotExist) {
		err = openai.Wrong(http.StatusNotFound, "", "id", "The bytes of %s are gone.", f.ID)
	}
	return file, err
}

func (s *Server) fileContent(w http.ResponseWriter, r *http.Request) {
	u, id := userIn(r.Context()), r.PathValue("id")
	f, err := s.Home.Ledger.Clients.ClientFile(r.Context(), u.Name, id)
	if err != nil {
		s.fail(w, r, openai.Missing(err, "File", id))
		return
	}
	file, err := s.open(r.Context(), f)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	defer file.Close()
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.FormatInt(file.Size(), 10))
	// A client that hangs up has what it took.
	_, _ = io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{file}, make([]byte, 256<<10))
}
