package findings

import (
	"encoding/xml"
	"fmt"
	"io"

	"assay/internal/show/report/figures"
)

// WriteJUnit writes the gates as test cases, one suite for each run.
func WriteJUnit(w io.Writer, all []*Findings) error {
	var doc junitSuites
	for _, a := range all {
		suite := junitSuite{Name: a.Run.Study + " " + a.Run.ID, Tests: len(a.Gates)}
		for _, g := range a.Gates {
			c := junitCase{Name: g.Condition, Class: a.Run.Study + ".require"}
			if !g.Passed {
				c.Failure = &junitFailure{Message: g.Why}
				suite.Failures++
			}
			suite.Cases = append(suite.Cases, c)
		}
		for i := range a.Report.Tables {
			t := &a.Report.Tables[i]
			if t.Incomplete() && !t.People {
				suite.Tests++
				suite.Skipped++
				suite.Cases = append(suite.Cases, junitCase{
					Name: t.Stage + ": " + t.Title, Class: a.Run.Study + ".coverage",
					Skipped: &junitFailure{Message: "incomplete: " + figures.CoverageLine(t.Coverage)},
				})
			}
		}
		doc.Suites = append(doc.Suites, suite)
	}
	text, err := xml.MarshalIndent(doc, "", "  ")
	if err != nil {
		return fmt.Errorf("write the gates: %w", err)
	}
	_, err = w.Write(append([]byte(xml.Header), append(text, '\n')...))
	return err
}

type junitSuites struct {
	XMLName xml.Name     `xml:"testsuites"`
	Suites  []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Skipped  int         `xml:"skipped,attr,omitempty"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	Failure *junitFailure `xml:"failure"`
	Skipped *junitFailure `xml:"skipped"` // a table that is incomplete: no test can pass on it
}

type junitFailure struct {
	Message string `xml:"message,attr"`
}
