// Package assay holds the nouns of the project: studies ask lanes questions, requests travel in segments, outcomes come
// back.
//
// Nothing here does I/O, and nothing here knows a provider. Every other package uses these types; docs/dev/map.md shows the
// layer of each package and how one request travels through them.
package assay
