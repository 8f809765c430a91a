package driving

import (
	"encoding/json"
	"strconv"

	"github.com/spf13/cobra"

	"assay/internal/keep/store"
	"assay/internal/send/engine"
	"assay/internal/show/cli/shell"
)

// Resolve makes the command `assay resolve`.
func Resolve(w *shell.World) *cobra.Command {
	var resend, drop bool
	var adopt string
	var f orderFlags
	c := orderCommand(w, &f, "resolve RUN SEGMENT", "Decide about a segment that is held", func(args []string) (store.Order, error) {
		if len(args) != 2 {
			return store.Order{}, shell.Usage("assay status RUN --segments lists them", "assay resolve needs RUN and SEGMENT")
		}
		no, err := strconv.ParseInt(args[1], 10, 64)
		if err != nil {
			return store.Order{}, shell.Usage("assay status RUN --segments lists them", "segment %q is not a number", args[1])
		}
		r := engine.Resolve{Job: adopt}
		chosen := 0
		for do, yes := range map[engine.Do]bool{engine.DoResend: resend, engine.DoDrop: drop, engine.DoAdopt: adopt != ""} {
			if yes {
				r.Do = do
				chosen++
			}
		}
		if chosen != 1 {
			return store.Order{}, shell.Usage("", "choose one of --resend, --adopt JOB, --drop")
		}
		text, err := json.Marshal(r)
		return store.Order{Kind: store.OrderResolve, Segment: no, Args: string(text)}, err
	})
	c.Flags().BoolVar(&resend, "resend", false, "send it again: the job surely does not exist")
	c.Flags().StringVar(&adopt, "adopt", "", "the job that it became")
	c.Flags().BoolVar(&drop, "drop", false, "give it up")
	return c
}
