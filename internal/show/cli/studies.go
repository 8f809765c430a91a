package cli

import (
	"github.com/spf13/cobra"

	"assay/internal/send/workspace"
)

// studyFlags change a study while it is read.
type studyFlags struct{ workspace.StudyOptions }

func (f *studyFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.Profile, "profile", "", "apply a profile of the study")
	c.Flags().StringArrayVar(&f.Set, "set", nil, "set path=value in the study, such as inputs.questions.limit=5 (repeatable)")
	c.Flags().StringVar(&f.Prices, "prices", "", "a file of prices over the built-in table")
}

// studyFile is the study that a name on the command line means: the file, or study.yaml in the folder.
func studyFile(w *World, name string) string { return w.workspace().StudyFile(name) }
