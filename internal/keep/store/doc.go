// Package store has the records of the ledger: runs, segments, attempts, outcomes, verdicts and money. The packages
// below it read and write them, each a face of the ledger for those who need it; keep/ledger opens all of them.
//
// One SQL text serves SQLite and PostgreSQL wherever the two understand the same words. Every method is one
// transaction. A segment moves through these states, each move a compare-and-set that carries the epoch of the lease;
// migrations have the same picture as CHECK constraints, so that nothing else can be stored:
//
//	planned ──> staged ──> uploaded ──> intended ──> launched ──> ended ──> fetched ──> settled
//	   │          │ ▲ ▲        │ ▲          │ │ ▲         │ │        │  ▲        │
//	   │          │ │ └────────┘ └──────────┘ │ │         │ │        │  └────────┘  a result is missing: fetch again
//	   │          │ │                         │ │         │ │        │
//	   │          │ └── no job was made ──────┼─┼─────────┘ └────────┤  token limit: staged again
//	   │          │                           ▼ │                    ▼
//	   │          │   fate unknown, or gone: held <──────────────── failed  (the job as a whole; nothing billed)
//	   ▼          ▼                           │
//	cancelled <───┴───────────────────────────┘  before launch, or dropped by `assay resolve`
//
// A live segment goes staged > launched > settled. Terminal states have one outcome for every attempt.
//
// A transaction changes rows in one order: segments, then lanes, then runs.
package store
