package cli

import (
	"context"
	crand "crypto/rand"
	"encoding/base32"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/send/workspace"
	"assay/internal/show/cli/shell"
	"assay/internal/show/gateway"
	"assay/internal/show/serve"
	"assay/internal/study/catalog"
)

type gatewayFlags struct {
	home      shell.HomeFlags
	listen    string
	open      bool
	tokenFile string
	budget    string
	admin     string
	storage   workspace.Bytes
	interval  time.Duration
}

func gatewayCommand(w *shell.World) *cobra.Command {
	var f gatewayFlags
	c := &cobra.Command{
		Use:     "gateway",
		GroupID: shell.GroupRun,
		Short:   "Serve OpenAI's batch and chat API in front of every provider",
		Long: "Serves OpenAI's files, batches, models, chat completions and responses endpoints until Ctrl-C: the model names the " +
			"provider, as in anthropic/MODEL,\n" +
			"and one file may name several. Each batch is a run in the ledger: the gateway may be stopped or killed at any moment, and " +
			"the next one goes on\n" +
			"with it. --token-file holds a line for every user: USER TOKEN [BUDGET] [until=DATE]. `assay view` shows what each has used. " +
			"docs/gateway.md has the rest.\n" +
			"It listens on this machine alone. To let other machines in: --listen 0.0.0.0:7799 --expose. It is plain HTTP: put a proxy " +
			"with TLS in front.",
		Args: shell.Args(),
		RunE: func(c *cobra.Command, _ []string) error { return serveGateway(c.Context(), w, f) },
	}
	f.home.Register(c)
	c.Flags().StringVar(&f.listen, "listen", "127.0.0.1:7799", "address to listen on; port 0 takes a free one")
	c.Flags().BoolVar(&f.open, "expose", false, "allow an address that other machines can reach")
	c.Flags().StringVar(&f.tokenFile, "token-file", "", "users and their tokens, readable by its owner alone; made where it is missing")
	c.Flags().StringVar(&f.budget, "budget", "", "the most that all users together may spend")
	f.storage = 20_000_000_000
	c.Flags().Var(&f.storage, "storage", "how much of files a user may keep; 0: any number")
	c.Flags().StringVar(&f.admin, "admin", "", "the user whose token shows all users in /metrics")
	c.Flags().DurationVar(&f.interval, "interval", 0, "between two looks at a job")
	return c
}

func serveGateway(ctx context.Context, w *shell.World, f gatewayFlags) error {
	local, err := serve.Loopback(f.listen)
	if err != nil {
		return shell.Usage("", "--listen: %s", err)
	}
	if !local && !f.open {
		return shell.Usage("--expose allows it; tokens then travel over plain HTTP, so put a proxy with TLS in front",
			"--listen %s can be reached from other machines", f.listen)
	}
	for _, v := range catalog.Default().Vendors() {
		if url, _ := w.Env(v.BaseURLEnv); workspace.HostOf(url) == "http://"+f.listen {
			return shell.Usage("unset it here: it is for the clients", "%s leads to the gateway itself", v.BaseURLEnv)
		}
	}
	var budget *assay.Money
	if f.budget != "" {
		m, err := assay.ParseMoney(f.budget)
		if err != nil {
			return shell.Usage("", "--budget: %s", err)
		}
		budget = &m
	}
	users, shown, err := f.users(w)
	if err != nil {
		return err
	}
	if f.admin != "" && !slices.ContainsFunc(users, func(u gateway.User) bool { return u.Name == f.admin }) {
		return shell.Usage("", "--admin %s: no user has this name", f.admin)
	}
	f.home.Waits(w)
	h, err := f.home.OpenHome(ctx, w, false)
	if err != nil {
		return err
	}
	defer h.Close()
	if err := h.Ready(ctx); err != nil {
		return err
	}
	on, err := w.Listen(f.listen)
	if err != nil {
		return err
	}
	fmt.Fprint(w.Stdout, gateway.Variables(on.Addr().String(), shown))
	fmt.Fprintln(w.Stderr, "set these for the clients; Ctrl-C ends the gateway, and the next one goes on with its batches")
	server := gateway.New(gateway.Options{Home: h.Home, Users: users, Reread: f.reread(w), Budget: budget,
		Storage: int64(f.storage), Admin: f.admin, Interval: f.interval, Log: slog.New(slog.NewTextHandler(w.Stderr, nil))})
	return server.Serve(ctx, on)
}

// reread returns what reads the file of tokens again; nil: there is none.
func (f gatewayFlags) reread(w *shell.World) func() ([]gateway.User, error) {
	if f.tokenFile == "" {
		return nil
	}
	return func() ([]gateway.User, error) {
		text, err := os.ReadFile(w.Disk.Path(f.tokenFile))
		if err != nil {
			return nil, err
		}
		return gateway.ReadUsers(text)
	}
}

// users reads the file of tokens. Without one, the user gets a token, which is shown once and kept where a file is named.
func (f gatewayFlags) users(w *shell.World) (users []gateway.User, shown string, err error) {
	if f.tokenFile != "" && w.Disk.Exists(f.tokenFile) {
		name := w.Disk.Path(f.tokenFile)
		info, err := os.Stat(name)
		if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
			return nil, "", shell.Usage("chmod 600 "+f.tokenFile, "--token-file %s: others can read it", f.tokenFile)
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, "", fmt.Errorf("read the tokens: %w", err)
		}
		if users, err = gateway.ReadUsers(text); err != nil {
			return nil, "", shell.Usage("every line is USER TOKEN [BUDGET] [until=DATE]", "--token-file %s: %s", f.tokenFile, err)
		}
		return users, "", nil
	}
	var random [20]byte
	if _, err := crand.Read(random[:]); err != nil {
		return nil, "", fmt.Errorf("make a token: %w", err)
	}
	token, name := strings.ToLower(base32.StdEncoding.EncodeToString(random[:])), w.Workspace().User()
	if name == "" || strings.ContainsAny(name, " \t\r\n#") {
		name = "me"
	}
	switch {
	case f.tokenFile == "":
	case f.admin != "":
		return nil, "", shell.Usage("without --admin it is made", "--token-file %s: there is no such file", f.tokenFile)
	default:
		if err := w.Disk.WriteNew(f.tokenFile, []byte(name+" "+token+"\n")); err != nil {
			return nil, "", fmt.Errorf("keep the token: %w", err)
		}
		fmt.Fprintf(w.Stderr, "%s was not there: it was made, with one user, %s\n", f.tokenFile, name)
	}
	return []gateway.User{gateway.NewUser(name, token, nil)}, token, nil
}
