// Package plan holds what a study may send: the lanes, conversations, rubrics and pairs of its stages, and the plan that prices them.
package plan
