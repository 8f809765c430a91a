// Command assay asks many language models many questions and reports which is better.
package main

import (
	"context"
	"os"
	"os/signal"
	"os/user"
	"strings"
	"syscall"
	"time"

	"assay/internal/send/provider"
	"assay/internal/show/cli"
	"assay/internal/show/cli/shell"
	"assay/internal/show/cli/term"
)

func main() {
	startCollector()
	os.Exit(run())
}

func run() int {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup wants it ignored
		signal.Notify(signals, syscall.SIGHUP)
	}
	go func() {
		<-signals
		signal.Stop(signals) // before the first Ctrl-C is reported: the second one ends the process at once
		stop()
	}()
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	return cli.Main(ctx, shell.World{
		Args:     os.Args[1:],
		Env:      lookup,
		Stdin:    os.Stdin,
		Stdout:   os.Stdout,
		Stderr:   os.Stderr,
		Terminal: term.Of(os.Stdin, os.Stdout, os.Stderr),
		Now:      time.Now,
		Disk:     shell.Disk{Dir: dir},
		HTTP:     provider.NewTransport(),
		Browse:   browse,
	})
}

// lookup returns the environment. The user's name comes from the system where it is not in it, as in many containers.
func lookup(name string) (string, bool) {
	value, ok := os.LookupEnv(name)
	if name != "USER" || value != "" {
		return value, ok
	}
	u, err := user.Current()
	if err != nil {
		return value, ok
	}
	return u.Username[strings.LastIndexByte(u.Username, '\\')+1:], true // Windows has the domain before it
}
