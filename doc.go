// Package assay holds the nouns of the project: studies ask lanes questions, requests travel in segments, outcomes come back.
//
// Nothing here does I/O, and nothing here knows a provider. Every other room speaks in these words; docs/map.md shows
// where each room stands and how one request travels through them.
package assay
