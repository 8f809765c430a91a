package cli

import (
	"context"
	crand "crypto/rand"
	"encoding/base32"
	"errors"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
	"assay/internal/send/script/rounds"
	"assay/internal/show/cli/shell"
	"assay/internal/show/serve"
	"assay/internal/show/web"
	"assay/internal/show/web/guard"
	"assay/internal/show/web/site"
)

type viewFlags struct {
	home      shell.HomeFlags
	listen    string
	open      bool
	browse    bool
	hosts     []string
	tokenFile string
}

func dashboardCommand(w *shell.World) *cobra.Command {
	var f viewFlags
	c := &cobra.Command{
		Use:     "view",
		GroupID: shell.GroupLook,
		Short:   "Open the dashboard: runs, answers, findings and a blind arena, in a browser",
		Long: "Serves the dashboard until Ctrl-C, and prints its address with a token once; everyone who has it may look and give " +
			"orders. It shows all runs\n" +
			"of this home, rehearsals too, while they go on in other processes. docs/view.md has its pages, its JSON API and " +
			"its metrics.\n" +
			"It listens on this machine alone. To let other machines in: --listen 0.0.0.0:7788 --expose. It is plain HTTP: put a proxy " +
			"with TLS in front.",
		Args: shell.Args(),
		RunE: func(c *cobra.Command, _ []string) error { return view(c.Context(), w, f) },
	}
	f.home.Register(c)
	c.Flags().StringVar(&f.listen, "listen", "127.0.0.1:7788", "address to listen on; port 0 takes a free one")
	c.Flags().BoolVar(&f.open, "expose", false, "allow an address that other machines can reach")
	c.Flags().BoolVar(&f.browse, "open", false, "open it in a browser, too")
	c.Flags().StringSliceVar(&f.hosts, "host", nil, "a name the dashboard may be called by, besides IP addresses and localhost")
	c.Flags().StringVar(&f.tokenFile, "token-file", "", "keep the token in this file, so that it is the same after a restart")
	return c
}

func view(ctx context.Context, w *shell.World, f viewFlags) error {
	local, err := serve.Loopback(f.listen)
	if err != nil {
		return shell.Usage("", "--listen: %s", err)
	}
	if !local && !f.open {
		return shell.Usage("--expose allows it; the token then travels over plain HTTP, so put a proxy with TLS in front",
			"--listen %s can be reached from other machines", f.listen)
	}
	token, err := f.token(w)
	if err != nil {
		return err
	}
	homes, err := f.homes(ctx, w)
	if err != nil {
		return err
	}
	defer homes.close()
	server, err := web.New(site.Options{Homes: homes.now, Token: token, Hosts: lowered(f.hosts), By: w.Workspace().User(),
		Version: shell.Version(), Now: w.Now})
	if err != nil {
		return err
	}
	on, err := w.Listen(f.listen)
	if err != nil {
		return err
	}
	fmt.Fprintf(w.Stdout, "http://%s/?token=%s\n", on.Addr(), token)
	fmt.Fprintln(w.Stderr, "everyone who has the address above may look and give orders; Ctrl-C ends the dashboard, not the runs")
	fmt.Fprintf(w.Stderr, "to share, for looking only: http://%s/?token=%s\n", on.Addr(), guard.LookToken(token))
	if f.browse {
		leave, err := browse(w, "http://"+on.Addr().String()+"/?token="+token)
		if err != nil {
			fmt.Fprintf(w.Stderr, "no browser was opened (%s): open the first address yourself\n", err)
		}
		defer leave()
	}
	return server.Serve(ctx, on)
}

// browse opens an address in the browser. Other users of this machine can read the command lines of programs, so the
// browser is handed a file of the user's own that leads there; leave takes it away.
func browse(w *shell.World, address string) (leave func(), err error) {
	leave = func() {}
	if w.Browse == nil {
		return leave, errors.New("there is none")
	}
	dir, err := os.MkdirTemp("", "assay-open-") // for its owner alone
	if err != nil {
		return leave, err
	}
	leave = func() { os.RemoveAll(dir) } // what stays leads to a server that is gone
	file := filepath.Join(dir, "assay.html")
	page := fmt.Sprintf(`<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0; url=%[1]s"><title>assay</title><a href="%[1]s">assay</a>`,
		html.EscapeString(address))
	if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
		return leave, err
	}
	return leave, w.Browse(file)
}

func lowered(all []string) []string {
	var out []string
	for _, s := range all {
		out = append(out, strings.ToLower(s))
	}
	return out
}

// token makes a new token, or takes the one that is kept in a file.
func (f viewFlags) token(w *shell.World) (string, error) {
	if f.tokenFile != "" && w.Disk.Exists(f.tokenFile) {
		text, err := os.ReadFile(w.Disk.Path(f.tokenFile))
		if err != nil {
			return "", fmt.Errorf("read the token: %w", err)
		}
		if token := strings.TrimSpace(string(text)); len(token) >= 16 {
			return token, nil
		}
		return "", shell.Usage("remove the file, and a new one is made", "--token-file %s: a token has at least 16 characters", f.tokenFile)
	}
	var random [20]byte
	if _, err := crand.Read(random[:]); err != nil {
		return "", fmt.Errorf("make a token: %w", err)
	}
	token := strings.ToLower(base32.StdEncoding.EncodeToString(random[:]))
	if f.tokenFile != "" {
		if err := w.Disk.WriteNew(f.tokenFile, []byte(token+"\n")); err != nil {
			return "", fmt.Errorf("keep the token: %w", err)
		}
		fmt.Fprintf(w.Stderr, "%s was not there: it was made\n", f.tokenFile)
	}
	return token, nil
}

// viewHomes are the ledger, and that of the rehearsals from when there is one.
type viewHomes struct {
	ctx   context.Context // of the command
	world *shell.World
	flags shell.HomeFlags
	mu    sync.Mutex
	open  []*shell.Home
	seen  []*site.Home
}

func (f viewFlags) homes(ctx context.Context, w *shell.World) (*viewHomes, error) {
	f.home.Waits(w)
	h, err := f.home.OpenHome(ctx, w, false)
	if err != nil {
		return nil, err
	}
	return &viewHomes{ctx: ctx, world: w, flags: f.home, open: []*shell.Home{h}, seen: []*site.Home{seenIn(h)}}, nil
}

// now lists the homes. The first rehearsal may come while a page is open; a ledger that is being made is seen at the next look.
func (v *viewHomes) now() []*site.Home {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.open) == 1 && v.flags.HasHome(v.world, true) {
		if h, err := v.flags.OpenHome(v.ctx, v.world, true); err == nil {
			v.open, v.seen = append(v.open, h), append(v.seen, seenIn(h))
		}
	}
	return slices.Clone(v.seen)
}

func (v *viewHomes) close() {
	for _, h := range v.open {
		h.Close()
	}
}

// seenIn returns a home as the dashboard sees it.
func seenIn(h *shell.Home) *site.Home {
	out := &site.Home{Reader: h.Results(), Files: h.Files, Orders: h.Ledger.Runs, Clients: h.Ledger.Clients, Away: h.Away}
	out.Newer = func(ctx context.Context) string {
		if newer, ok := errors.AsType[*db.NewerError](h.Ledger.Leases.Current(ctx)); ok {
			return newer.Error()
		}
		return "" // what else is wrong is seen by who writes
	}
	if !h.Rehearsal { // nothing drives a rehearsal but the command that begins it
		out.Buy = func(ctx context.Context, run store.Run, s rounds.Settle, cost assay.Money) (bool, error) {
			return h.BuySettling(ctx, out.Reader, run, s, cost)
		}
	}
	return out
}
