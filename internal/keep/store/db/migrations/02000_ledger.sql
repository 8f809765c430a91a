-- The ledger. One text for SQLite and PostgreSQL: {{serial}}, {{postgres}} and {{sqlite}} are what differs.
-- Times are milliseconds since 1970 in UTC; money is nanodollars; truth values are 0 and 1.

CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
);

CREATE TABLE runs (
    no             {{serial}},
    id             TEXT NOT NULL UNIQUE,
    study          TEXT NOT NULL,
    folder         TEXT NOT NULL,
    digest         TEXT NOT NULL,
    settings       TEXT NOT NULL,
    tuned          TEXT NOT NULL DEFAULT '', -- limits that were set while it went on; '': none
    note           TEXT NOT NULL,
    started_by     TEXT NOT NULL,
    rehearsal      INTEGER NOT NULL CHECK (rehearsal IN (0, 1)),
    state          TEXT NOT NULL CHECK (state IN ('preparing', 'open', 'closed')),
    result         TEXT NOT NULL DEFAULT '' CHECK (result IN ('', 'done', 'incomplete', 'budget', 'cancelled')),
    budget_nano    BIGINT CHECK (budget_nano >= 0),
    reserved_nano  BIGINT NOT NULL DEFAULT 0 CHECK (reserved_nano >= 0),
    spent_nano     BIGINT NOT NULL DEFAULT 0 CHECK (spent_nano >= 0),
    spent_unknown  BIGINT NOT NULL DEFAULT 0 CHECK (spent_unknown >= 0),
    perhaps_nano   BIGINT NOT NULL DEFAULT 0 CHECK (perhaps_nano >= 0), -- what live calls in doubt cost at most
    follows        BIGINT, -- the newest run of the study in its folder when this one began; 0: none; NULL: it was not looked for
    created_ms     BIGINT NOT NULL,
    due_ms         BIGINT,
    closed_ms      BIGINT,
    idle_ms        BIGINT NOT NULL DEFAULT 0, -- for how long, in all, no process drove it while no job was in flight
    unseen_ms      BIGINT NOT NULL DEFAULT 0, -- the longest time in which no process drove it while one was
    driven_ms      BIGINT, -- since when it has been driven again after the last such time
    holder         TEXT,
    epoch          BIGINT NOT NULL DEFAULT 0,
    lease_until_ms BIGINT,
    reconcile      TEXT NOT NULL DEFAULT '', -- why its providers' lists are compared with the ledger before anything is sent; '': nothing is owed
    CHECK ((holder IS NULL) = (lease_until_ms IS NULL)),
    CHECK ((state = 'closed') = (closed_ms IS NOT NULL)),
    CHECK ((state = 'closed') = (result <> '')),
    CHECK (state <> 'closed' OR due_ms IS NULL)
);
CREATE INDEX runs_study ON runs (study, no);
-- Of two processes that saw the same newest run, one begins the next.
CREATE UNIQUE INDEX runs_follows ON runs (study, folder, follows);

-- A run works from what the study was when it began: named parts, cut into chunks, and the items of its inputs.
CREATE TABLE snapshot_parts (
    run_no BIGINT NOT NULL REFERENCES runs (no),
    name   TEXT NOT NULL,
    chunk  BIGINT NOT NULL,
    bytes  BYTEA NOT NULL,
    PRIMARY KEY (run_no, name, chunk)
);

CREATE TABLE items (
    run_no  BIGINT NOT NULL,
    input   TEXT NOT NULL,
    ord     BIGINT NOT NULL,
    id      TEXT NOT NULL,
    cluster TEXT NOT NULL,
    expect  TEXT NOT NULL,
    fields  TEXT NOT NULL,
    files   TEXT NOT NULL DEFAULT '', -- the files and URLs that requests about it show, with their hashes, as a JSON list; '': none
    PRIMARY KEY (run_no, input, ord)
);
CREATE UNIQUE INDEX items_id ON items (run_no, input, id);

-- One row per lane and stage of a run, from the plan on, so that lanes at zero are seen. The n_ columns count requests,
-- each once, by the outcome that stands for it now; n_open are those staged or sent; the hits_ columns count cache hits; spared are
-- planned requests that need no asking: ties of identical answers, what a gate left out.
CREATE TABLE lanes (
    run_no      BIGINT NOT NULL REFERENCES runs (no),
    stage       TEXT NOT NULL,
    lane        TEXT NOT NULL,
    provider    TEXT NOT NULL,
    model       TEXT NOT NULL,
    label       TEXT NOT NULL,
    params      TEXT NOT NULL,
    planned     BIGINT NOT NULL CHECK (planned >= 0),
    state       TEXT NOT NULL CHECK (state IN ('open', 'stopped', 'held', 'paused')),
    cause       TEXT NOT NULL DEFAULT '' CHECK (cause IN ('', 'user', 'account', 'nothing good') AND (state <> 'open' OR cause = '')),
    reason      TEXT NOT NULL,
    canary      TEXT NOT NULL CHECK (canary IN ('off', 'due', 'asked', 'shown', 'passed', 'failed')),
    n_open      BIGINT NOT NULL DEFAULT 0 CHECK (n_open >= 0),
    n_answered  BIGINT NOT NULL DEFAULT 0 CHECK (n_answered >= 0),
    n_cut       BIGINT NOT NULL DEFAULT 0 CHECK (n_cut >= 0),
    n_empty     BIGINT NOT NULL DEFAULT 0 CHECK (n_empty >= 0),
    n_refused   BIGINT NOT NULL DEFAULT 0 CHECK (n_refused >= 0),
    n_rejected  BIGINT NOT NULL DEFAULT 0 CHECK (n_rejected >= 0),
    n_errored   BIGINT NOT NULL DEFAULT 0 CHECK (n_errored >= 0),
    n_expired   BIGINT NOT NULL DEFAULT 0 CHECK (n_expired >= 0),
    n_cancelled BIGINT NOT NULL DEFAULT 0 CHECK (n_cancelled >= 0),
    n_lost      BIGINT NOT NULL DEFAULT 0 CHECK (n_lost >= 0),
    hits_answered BIGINT NOT NULL DEFAULT 0,
    hits_cut      BIGINT NOT NULL DEFAULT 0,
    hits_empty    BIGINT NOT NULL DEFAULT 0,
    hits_refused  BIGINT NOT NULL DEFAULT 0,
    reused      BIGINT NOT NULL DEFAULT 0,
    surplus     BIGINT NOT NULL DEFAULT 0,
    spared      BIGINT NOT NULL DEFAULT 0 CHECK (spared >= 0),
    imported    BIGINT NOT NULL DEFAULT 0,
    n_unread    BIGINT NOT NULL DEFAULT 0, -- of a judge: replies that no verdict can be read from
    PRIMARY KEY (run_no, stage, lane),
    CHECK ((state = 'open') = (reason = ''))
);

-- A group is what one lane is asked in one turn of one stage; second tries after malformed verdicts are a group of their own. It is complete when nothing can join it any more.
CREATE TABLE groups (
    run_no   BIGINT NOT NULL REFERENCES runs (no),
    stage    TEXT NOT NULL,
    lane     TEXT NOT NULL,
    turn     BIGINT NOT NULL,
    second_try INTEGER NOT NULL CHECK (second_try >= 0), -- of a judge: how often the same was asked before
    first_ms BIGINT,
    complete INTEGER NOT NULL DEFAULT 0 CHECK (complete IN (0, 1)),
    PRIMARY KEY (run_no, stage, lane, turn, second_try)
);

-- A segment is requests of one group that travel together. moved_from makes illegal moves impossible,
-- the other checks make impossible states impossible. The n_ columns count attempts by ending.
CREATE TABLE segments (
    no                {{serial}},
    run_no            BIGINT NOT NULL REFERENCES runs (no),
    stage             TEXT NOT NULL,
    lane              TEXT NOT NULL,
    turn              BIGINT NOT NULL,
    second_try        INTEGER NOT NULL DEFAULT 0 CHECK (second_try >= 0),
    mode              TEXT NOT NULL CHECK (mode IN ('batch', 'live', 'reuse')),
    purpose           TEXT NOT NULL CHECK (purpose IN ('wave', 'canary', 'again')),
    provider          TEXT NOT NULL,
    model             TEXT NOT NULL,
    imported          TEXT NOT NULL DEFAULT '', -- the file that answers made elsewhere came from
    state             TEXT NOT NULL CHECK (state IN ('planned', 'staged', 'uploaded', 'intended', 'launched', 'ended',
                          'fetched', 'settled', 'failed', 'cancelled', 'held')),
    moved_from        TEXT NOT NULL DEFAULT '',
    moved_ms          BIGINT NOT NULL,
    created_ms        BIGINT NOT NULL,
    due_ms            BIGINT,
    wait_ms           BIGINT, -- until when the provider asked to wait before the next call; NULL: it did not
    progress_ms       BIGINT, -- when an answer was last settled, or the provider counted others than before
    reason            TEXT NOT NULL DEFAULT '', -- a code, such as #money, where something is decided by it
    nonce             TEXT NOT NULL,
    requests          BIGINT NOT NULL DEFAULT 0 CHECK (requests >= 0),
    max_try           BIGINT NOT NULL DEFAULT 1,
    expected_nano     BIGINT NOT NULL DEFAULT 0,
    unpriced          BIGINT NOT NULL DEFAULT 0,
    tokens            BIGINT NOT NULL DEFAULT 0, -- of its prompts, as we estimate them
    input             TEXT,
    input_bytes       BIGINT,
    input_sha256      TEXT,
    handle            TEXT,
    account           TEXT,
    stamped           INTEGER CHECK (stamped IN (0, 1)),
    cursor_mark       TEXT,
    intended_ms       BIGINT,
    intends           BIGINT NOT NULL DEFAULT 0,
    lost_creates      BIGINT NOT NULL DEFAULT 0, -- create calls that were taken for lost: their jobs may show yet
    audited           BIGINT NOT NULL DEFAULT 0, -- of these, those whose jobs were looked for once more
    lost_nano         BIGINT NOT NULL DEFAULT 0 CHECK (lost_nano >= 0), -- what they cost at most, if they made their jobs
    lost_handles      TEXT, -- handles of what they name, one a line: a job without a stamp is known by them
    fence             TEXT, -- the handle of what such a call names: deleted before anything is sent again
    absents           BIGINT NOT NULL DEFAULT 0,
    absent_ms         BIGINT,
    reserved_nano     BIGINT NOT NULL DEFAULT 0 CHECK (reserved_nano >= 0),
    job               TEXT,
    launched_ms       BIGINT,
    job_state         TEXT,
    job_word          TEXT,
    job_counts        TEXT,
    parts             TEXT,
    collect_before_ms BIGINT,
    cancel_cause      TEXT NOT NULL DEFAULT '' CHECK (cancel_cause IN ('', 'user', 'deadline', 'rule', 'double')),
    cancel_ms         BIGINT,
    ended_ms          BIGINT,
    fetched_ms        BIGINT,
    refetches         BIGINT NOT NULL DEFAULT 0,
    settled_ms        BIGINT,
    removed_ms        BIGINT, -- when what the job left at its provider was deleted there
    failures          BIGINT NOT NULL DEFAULT 0,
    still_ms          BIGINT, -- since when no step works
    recuts            BIGINT NOT NULL DEFAULT 0,
    held_from         TEXT,
    holder            TEXT,
    epoch             BIGINT NOT NULL DEFAULT 0,
    lease_until_ms    BIGINT,
    n_answered        BIGINT NOT NULL DEFAULT 0 CHECK (n_answered >= 0),
    n_cut             BIGINT NOT NULL DEFAULT 0 CHECK (n_cut >= 0),
    n_empty           BIGINT NOT NULL DEFAULT 0 CHECK (n_empty >= 0),
    n_refused         BIGINT NOT NULL DEFAULT 0 CHECK (n_refused >= 0),
    n_rejected        BIGINT NOT NULL DEFAULT 0 CHECK (n_rejected >= 0),
    n_errored         BIGINT NOT NULL DEFAULT 0 CHECK (n_errored >= 0),
    n_expired         BIGINT NOT NULL DEFAULT 0 CHECK (n_expired >= 0),
    n_cancelled       BIGINT NOT NULL DEFAULT 0 CHECK (n_cancelled >= 0),
    n_lost            BIGINT NOT NULL DEFAULT 0 CHECK (n_lost >= 0),
    n_late            BIGINT NOT NULL DEFAULT 0 CHECK (n_late >= 0),
    n_surplus         BIGINT NOT NULL DEFAULT 0 CHECK (n_surplus >= 0),
    cost_nano         BIGINT NOT NULL DEFAULT 0,
    cost_priced       BIGINT NOT NULL DEFAULT 0,
    cost_unknown      BIGINT NOT NULL DEFAULT 0,
    cache_hits        BIGINT NOT NULL DEFAULT 0,
    input_tokens      BIGINT NOT NULL DEFAULT 0,
    cached_tokens     BIGINT NOT NULL DEFAULT 0,
    output_tokens     BIGINT NOT NULL DEFAULT 0,
    reasoning_tokens  BIGINT NOT NULL DEFAULT 0,
    written_tokens    BIGINT NOT NULL DEFAULT 0, -- among those of the input: written to a provider's cache
    usage_unknown     BIGINT NOT NULL DEFAULT 0, -- replies that did not say how many tokens they took; the sums above are of the others
    taken_nano        BIGINT NOT NULL DEFAULT 0, -- of answers that were taken over: what they cost where they were paid for
    taken_unpriced    BIGINT NOT NULL DEFAULT 0, -- those without a known price
    taken_input       BIGINT NOT NULL DEFAULT 0, -- their tokens
    taken_cached      BIGINT NOT NULL DEFAULT 0,
    taken_output      BIGINT NOT NULL DEFAULT 0,
    taken_mute        BIGINT NOT NULL DEFAULT 0, -- those whose tokens are not known
    CHECK (moved_from || '>' || state IN ('>planned',
        'planned>staged', 'planned>cancelled',
        'staged>uploaded', 'staged>cancelled', 'staged>failed', 'staged>launched', 'staged>held',
        'uploaded>intended', 'uploaded>staged', 'uploaded>cancelled', 'uploaded>failed', 'uploaded>held',
        'intended>launched', 'intended>uploaded', 'intended>staged', 'intended>failed', 'intended>held',
        'launched>ended', 'launched>settled', 'launched>held', 'launched>staged', 'launched>failed',
        'ended>fetched', 'ended>held', 'ended>staged', 'ended>failed',
        'fetched>settled', 'fetched>ended', 'fetched>held', 'fetched>failed',
        'held>uploaded', 'held>staged', 'held>launched', 'held>cancelled')),
    CHECK (state IN ('planned', 'cancelled') OR requests > 0),
    CHECK (n_answered + n_cut + n_empty + n_refused + n_rejected + n_errored + n_expired + n_cancelled + n_lost <= requests),
    CHECK (state NOT IN ('settled', 'failed', 'cancelled') OR requests =
        n_answered + n_cut + n_empty + n_refused + n_rejected + n_errored + n_expired + n_cancelled + n_lost),
    CHECK (mode <> 'batch' OR state IN ('planned', 'cancelled') OR (input IS NOT NULL AND input_bytes IS NOT NULL AND input_sha256 IS NOT NULL)),
    CHECK (mode = 'batch' OR state IN ('planned', 'staged', 'launched', 'settled', 'cancelled', 'failed', 'held')),
    CHECK (state NOT IN ('uploaded', 'intended', 'ended', 'fetched') OR handle IS NOT NULL),
    CHECK (state NOT IN ('planned', 'staged', 'uploaded') OR (intended_ms IS NULL AND job IS NULL AND reserved_nano = 0)),
    CHECK (state <> 'intended' OR (intended_ms IS NOT NULL AND cursor_mark IS NOT NULL AND account IS NOT NULL AND stamped IS NOT NULL AND job IS NULL)),
    CHECK (mode <> 'batch' OR state NOT IN ('launched', 'ended', 'fetched', 'settled') OR (job IS NOT NULL AND account IS NOT NULL)),
    CHECK (state NOT IN ('launched', 'ended', 'fetched', 'settled') OR launched_ms IS NOT NULL),
    CHECK (mode <> 'batch' OR state NOT IN ('ended', 'fetched', 'settled') OR (ended_ms IS NOT NULL AND parts IS NOT NULL)),
    CHECK (mode <> 'batch' OR state NOT IN ('fetched', 'settled') OR fetched_ms IS NOT NULL),
    CHECK ((state = 'settled') = (settled_ms IS NOT NULL)),
    CHECK (fence IS NULL OR state IN ('staged', 'cancelled', 'failed', 'held')),
    CHECK (audited <= lost_creates),
    CHECK (state NOT IN ('settled', 'failed', 'cancelled') OR reserved_nano = 0),
    CHECK ((state = 'held') = (held_from IS NOT NULL)),
    CHECK (state NOT IN ('failed', 'held') OR reason <> ''),
    CHECK (state NOT IN ('failed', 'cancelled') OR due_ms IS NULL),
    CHECK ((cancel_cause = '') = (cancel_ms IS NULL)),
    CHECK ((holder IS NULL) = (lease_until_ms IS NULL))
);
CREATE INDEX segments_run ON segments (run_no, state);
CREATE INDEX segments_away ON segments (account, model) WHERE state IN ('intended', 'launched');
CREATE INDEX segments_waiting ON segments (provider, model) WHERE state = 'uploaded';
CREATE INDEX segments_holder ON segments (holder) WHERE holder IS NOT NULL;
CREATE INDEX segments_due ON segments (due_ms) WHERE due_ms IS NOT NULL;

-- An attempt is one sending of one request in one segment: its coordinates, less stage, turn and second_try, which are the
-- segment's. Of a judge's request source, item, lane, template, branch and draw are those of the answer it reads; of a pair
-- of lanes lane is the first and against the second; of a pair of items item and against, and lane is empty.
CREATE TABLE attempts (
    segment_no BIGINT NOT NULL,
    ord        BIGINT NOT NULL,
    run_no     BIGINT NOT NULL,
    key        BYTEA NOT NULL,
    try        BIGINT NOT NULL CHECK (try > 0),
    digest     BYTEA,
    source     TEXT NOT NULL,
    item       TEXT NOT NULL,
    lane       TEXT NOT NULL,
    against    TEXT NOT NULL,
    template   TEXT NOT NULL,
    branch     TEXT NOT NULL,
    draw       BIGINT NOT NULL,
    judge      TEXT NOT NULL,
    prompt     TEXT NOT NULL,
    trait      TEXT NOT NULL,
    vote       BIGINT NOT NULL CHECK (vote >= 0),
    PRIMARY KEY (segment_no, ord)
);
-- In SQLite an attempt is found by its item, which comes in the order of the work: with keys first, every entry would be made in another
-- page of the index. The key is made from the item, among others, so both hold that a request has one attempt of a number.
{{sqlite}}CREATE UNIQUE INDEX attempts_item ON attempts (run_no, item, key, try);
{{postgres}}CREATE UNIQUE INDEX attempts_key ON attempts (run_no, key, try);
{{postgres}}CREATE INDEX attempts_item ON attempts (run_no, item);
-- Few studies reuse answers, and entries in random order are dear: in SQLite the index is made when equal requests are first
-- looked for.
{{postgres}}CREATE INDEX attempts_digest ON attempts (digest) WHERE digest IS NOT NULL;

CREATE TABLE artifacts (
    no         {{serial}},
    run_no     BIGINT NOT NULL REFERENCES runs (no),
    segment_no BIGINT NOT NULL REFERENCES segments (no),
    name       TEXT NOT NULL,
    kind       TEXT NOT NULL CHECK (kind IN ('input', 'results', 'errors', 'live')),
    part       TEXT NOT NULL,
    bytes      BIGINT NOT NULL CHECK (bytes >= 0),
    sha256     TEXT NOT NULL,
    created_ms BIGINT NOT NULL,
    UNIQUE (segment_no, name)
);

-- How an attempt ended: inserted once. A row with late = 1 is what a provider handed out after we had
-- given the attempt up. At most one outcome stands for a request; a second answer is surplus.
CREATE TABLE outcomes (
    segment_no    BIGINT NOT NULL,
    ord           BIGINT NOT NULL,
    late          INTEGER NOT NULL CHECK (late IN (0, 1)),
    run_no        BIGINT NOT NULL,
    key           BYTEA NOT NULL,
    -- What is true of nearly every row comes first: SQLite builds a table for a list of more than two.
    ending        TEXT NOT NULL CHECK (ending = 'answered'
        OR ending IN ('cut', 'empty', 'refused', 'rejected', 'errored', 'expired', 'cancelled', 'lost')),
    stands        INTEGER NOT NULL CHECK (stands IN (0, 1)),
    surplus       INTEGER NOT NULL CHECK (surplus IN (0, 1)),
    retried       INTEGER NOT NULL DEFAULT 0 CHECK (retried IN (0, 1)), -- its segment has second attempts, or it came late
    reused_no     BIGINT,
    text          TEXT,
    thoughts      TEXT,
    calls         TEXT, -- of tools, that the model wants made, as JSON
    over          INTEGER NOT NULL CHECK (over IN (0, 1)),
    finish        TEXT NOT NULL,
    model         TEXT NOT NULL,
    request_id    TEXT NOT NULL,
    tier          TEXT NOT NULL,
    input_tokens  BIGINT,
    cached_tokens BIGINT,
    write5m_tokens BIGINT,
    write1h_tokens BIGINT,
    output_tokens BIGINT,
    reasoning_tokens BIGINT,
    tools         TEXT, -- calls of tools that the provider ran and bills beside tokens, as JSON
    cost_nano     BIGINT,
    price_nano    BIGINT, -- of an answer that was taken over: its cost in the run that asked; NULL: not known
    fault_class   TEXT,
    fault_status  BIGINT,
    fault_code    TEXT,
    fault_message TEXT,
    artifact_no   BIGINT,
    line_offset   BIGINT,
    line_length   BIGINT,
    line_sum      BIGINT, -- checksum of those bytes
    at_ms         BIGINT NOT NULL,
    PRIMARY KEY (segment_no, ord, late),
    CHECK (stands = 0 OR (surplus = 0 AND (ending = 'answered' OR ending IN ('cut', 'refused')))),
    CHECK (surplus = 0 OR ending IN ('answered', 'cut', 'refused')),
    CHECK ((artifact_no IS NULL) = (line_offset IS NULL) AND (artifact_no IS NULL) = (line_length IS NULL)),
    CHECK (line_sum IS NULL OR artifact_no IS NOT NULL),
    CHECK (late = 0 OR ending NOT IN ('lost', 'expired', 'cancelled'))
);
-- Only an answer of a retried request can be one too many: a second attempt is made when the first one has an outcome that does not stand.
CREATE UNIQUE INDEX outcomes_stand ON outcomes (run_no, key) WHERE stands = 1 AND retried = 1;
CREATE INDEX outcomes_failed ON outcomes (run_no, ending) WHERE stands = 0;
-- Answered is nearly everything, and needs no index; what is rare does.
CREATE INDEX outcomes_rare ON outcomes (segment_no, ending, ord) WHERE ending <> 'answered';

-- Requests to send again: the queue between a settled attempt and its next one.
CREATE TABLE resends (
    run_no        BIGINT NOT NULL,
    key           BYTEA NOT NULL,
    try           BIGINT NOT NULL,
    segment_no    BIGINT NOT NULL,
    ord           BIGINT NOT NULL,
    mode          TEXT NOT NULL CHECK (mode IN ('batch', 'live')),
    not_before_ms BIGINT NOT NULL,
    cause         TEXT NOT NULL,
    PRIMARY KEY (run_no, key, try)
);
CREATE INDEX resends_segment ON resends (segment_no, mode, ord);

-- Live requests that may have been billed without their answer having come home, under which lease, how often, what one costs
-- at most, and why: their worker stopped, or the reply was lost.
CREATE TABLE doubts (
    segment_no BIGINT NOT NULL REFERENCES segments (no),
    ord        BIGINT NOT NULL,
    epoch      BIGINT NOT NULL,
    cause      TEXT NOT NULL CHECK (cause IN ('stop', 'reply')),
    times      BIGINT NOT NULL DEFAULT 1 CHECK (times > 0),
    cost_nano  BIGINT,
    at_ms      BIGINT NOT NULL,
    PRIMARY KEY (segment_no, ord, epoch, cause)
);

-- Every job the provider made for a segment, the failed ones and the doubles too.
CREATE TABLE jobs (
    provider   TEXT NOT NULL,
    job        TEXT NOT NULL,
    segment_no BIGINT NOT NULL REFERENCES segments (no),
    account    TEXT NOT NULL,
    role       TEXT NOT NULL CHECK (role IN ('current', 'failed', 'double', 'surplus')),
    created_ms BIGINT NOT NULL,
    cost_nano  BIGINT NOT NULL DEFAULT 0, -- of one that is one too many, as far as is known; it is in the sums of its segment and run
    PRIMARY KEY (provider, job)
);
CREATE UNIQUE INDEX jobs_current ON jobs (segment_no) WHERE role = 'current';
CREATE INDEX jobs_segment ON jobs (segment_no);

-- Jobs with a run's stamp that no segment of this ledger made: another copy of it did. What they answer was taken over.
CREATE TABLE taken_jobs (
    provider   TEXT NOT NULL,
    job        TEXT NOT NULL,
    run_no     BIGINT NOT NULL REFERENCES runs (no),
    answers    BIGINT NOT NULL CHECK (answers >= 0),
    joined     BIGINT NOT NULL CHECK (joined >= 0), -- of these, answers to questions that had none
    cost_nano  BIGINT NOT NULL CHECK (cost_nano >= 0), -- of the others, which were paid twice
    segment_no BIGINT, -- where that is booked
    at_ms      BIGINT NOT NULL,
    PRIMARY KEY (provider, job, run_no)
);

-- Result lines that belong to no open attempt.
CREATE TABLE strays (
    segment_no  BIGINT NOT NULL REFERENCES segments (no),
    artifact_no BIGINT NOT NULL REFERENCES artifacts (no),
    line_offset BIGINT NOT NULL,
    line_length BIGINT NOT NULL,
    kind        TEXT NOT NULL CHECK (kind IN ('unknown', 'duplicate', 'foreign')),
    custom_id   TEXT NOT NULL,
    at_ms       BIGINT NOT NULL,
    PRIMARY KEY (segment_no, artifact_no, line_offset)
);

CREATE TABLE orders (
    no         {{serial}},
    run_no     BIGINT NOT NULL REFERENCES runs (no),
    segment_no BIGINT REFERENCES segments (no),
    kind       TEXT NOT NULL CHECK (kind IN ('cancel', 'retry', 'resolve', 'collect', 'proceed', 'redo')),
    args       TEXT NOT NULL,
    given_by   TEXT NOT NULL,
    given_ms   BIGINT NOT NULL,
    obeyed_ms  BIGINT,
    answer     TEXT,
    CHECK ((obeyed_ms IS NULL) = (answer IS NULL)),
    CHECK (kind <> 'resolve' OR segment_no IS NOT NULL)
);
CREATE INDEX orders_open ON orders (run_no) WHERE obeyed_ms IS NULL;

-- Nothing is sent to a model at an account before its gate opens.
CREATE TABLE gates (
    account  TEXT NOT NULL,
    model    TEXT NOT NULL,
    until_ms BIGINT NOT NULL,
    failures BIGINT NOT NULL,
    reason   TEXT NOT NULL,
    limit_tokens   BIGINT, -- that may wait in jobs at a time, as far as is known
    limit_until_ms BIGINT, -- until when that counts
    PRIMARY KEY (account, model)
);

-- A file that requests show, kept at a provider under an id: once for each account. Its row is written before it is sent. A call whose end
-- nobody saw is over after until_ms: then the file is looked for under its name before it is sent again.
CREATE TABLE uploads (
    account    TEXT NOT NULL, -- key and address
    sum        BYTEA NOT NULL,
    provider   TEXT NOT NULL,
    bytes      BIGINT NOT NULL,
    renewed    BIGINT NOT NULL DEFAULT 0, -- how often it was uploaded again because its time was over: part of its name
    calls      BIGINT NOT NULL DEFAULT 1 CHECK (calls > 0),
    until_ms   BIGINT, -- NULL: the file is there
    file       TEXT NOT NULL DEFAULT '', -- the provider's id
    expires_ms BIGINT, -- NULL: it stays
    PRIMARY KEY (account, sum),
    CHECK ((file = '') = (until_ms IS NOT NULL))
);

CREATE TABLE events (
    no         {{serial}},
    run_no     BIGINT NOT NULL REFERENCES runs (no),
    segment_no BIGINT,
    at_ms      BIGINT NOT NULL,
    kind       TEXT NOT NULL,
    text       TEXT NOT NULL
);
CREATE INDEX events_run ON events (run_no, no);

-- A verdict is a judge's reading of an answer or a pair. Its coordinates are those of the judge's request (or of the
-- person's label); subject_key and against_key are the keys of the answers it read.
CREATE TABLE verdicts (
    no           {{serial}},
    run_no       BIGINT NOT NULL REFERENCES runs (no),
    key          BYTEA NOT NULL,
    stage        TEXT NOT NULL,
    source       TEXT NOT NULL,
    item         TEXT NOT NULL,
    lane         TEXT NOT NULL,
    against      TEXT NOT NULL,
    direction    TEXT NOT NULL,
    template     TEXT NOT NULL,
    turn         BIGINT NOT NULL,
    branch       TEXT NOT NULL,
    draw         BIGINT NOT NULL,
    judge        TEXT NOT NULL,
    prompt       TEXT NOT NULL,
    trait        TEXT NOT NULL,
    vote         BIGINT NOT NULL CHECK (vote >= 0),
    subject_key  BYTEA,
    against_key  BYTEA,
    state        TEXT NOT NULL CHECK (state = 'valid' OR state IN ('abstained', 'malformed', 'failed', 'missing', 'excluded')),
    label        TEXT,
    score        DOUBLE PRECISION,
    reason       TEXT NOT NULL,
    fields       TEXT NOT NULL,
    segment_no   BIGINT,
    ord          BIGINT,
    second_try   INTEGER NOT NULL CHECK (second_try >= 0), -- how often the same was asked before; those verdicts are stale
    fallback     TEXT NOT NULL DEFAULT '', -- the lane that gave it in the judge's place; '': the judge did
    stale        INTEGER NOT NULL DEFAULT 0 CHECK (stale IN (0, 1)),
    at_ms        BIGINT NOT NULL,
    CHECK ((state = 'valid') = (label IS NOT NULL OR score IS NOT NULL)),
    CHECK ((segment_no IS NULL) = (ord IS NULL)),
    CHECK (fallback = '' OR second_try > 0)
);
CREATE UNIQUE INDEX verdicts_key ON verdicts (run_no, key) WHERE stale = 0;
CREATE INDEX verdicts_stage ON verdicts (run_no, stage, no);
CREATE INDEX verdicts_subject ON verdicts (run_no, subject_key);
CREATE INDEX verdicts_against ON verdicts (run_no, against_key);
CREATE INDEX verdicts_of ON verdicts (run_no, stage, lane, against, no);
-- People label few of many answers: who did, and what, is found without reading all verdicts.
CREATE INDEX verdicts_people ON verdicts (run_no, stage, judge) WHERE judge LIKE 'human:%';
-- The newest verdict of a run, which says whether findings are still true.
CREATE INDEX verdicts_newest ON verdicts (run_no, no);

-- What people wrote about answers, where they read them. Nothing is computed from it.
CREATE TABLE comments (
    no     {{serial}},
    run_no BIGINT NOT NULL REFERENCES runs (no),
    key    BYTEA NOT NULL, -- of the answer
    item   TEXT NOT NULL,
    person TEXT NOT NULL,
    text   TEXT NOT NULL,
    stale  INTEGER NOT NULL CHECK (stale IN (0, 1)), -- taken back
    at_ms  BIGINT NOT NULL
);
CREATE INDEX comments_item ON comments (run_no, item, no);

-- A redo is a person's word: ask again what has an answer, as one more draw. Nothing is replaced: nth counts the further
-- draws of an item in a lane of a stage, and branch and draw say which of its questions are asked again ('' and 0: all).
CREATE TABLE redos (
    run_no   BIGINT NOT NULL REFERENCES runs (no),
    stage    TEXT NOT NULL,
    lane     TEXT NOT NULL,
    item     TEXT NOT NULL,
    nth      BIGINT NOT NULL CHECK (nth > 0),
    branch   TEXT NOT NULL,
    draw     BIGINT NOT NULL CHECK (draw >= 0),
    order_no BIGINT NOT NULL REFERENCES orders (no),
    at_ms    BIGINT NOT NULL,
    PRIMARY KEY (run_no, stage, lane, item, nth)
);
CREATE UNIQUE INDEX redos_order ON redos (order_no);

-- What the gates of a run decided, each once: a stage as a whole (lane ''), or a lane in it.
CREATE TABLE decisions (
    run_no     BIGINT NOT NULL REFERENCES runs (no),
    stage      TEXT NOT NULL,
    lane       TEXT NOT NULL,
    condition  TEXT NOT NULL,
    passed     INTEGER NOT NULL CHECK (passed IN (0, 1)),
    why        TEXT NOT NULL,
    at_ms      BIGINT NOT NULL,
    PRIMARY KEY (run_no, stage, lane)
);

-- A look at the verdicts of a stage that buys its pairs in rounds, one after each round: what it found, and what it decided, once for
-- all. Next are the comparisons of the next round; where there is none, stop says why.
CREATE TABLE looks (
    run_no  BIGINT NOT NULL REFERENCES runs (no),
    stage   TEXT NOT NULL,
    number  BIGINT NOT NULL CHECK (number > 0),
    planned BIGINT NOT NULL, -- looks that were planned
    level   DOUBLE PRECISION NOT NULL, -- the error that this look might spend
    bought  BIGINT NOT NULL CHECK (bought >= 0), -- comparisons until it
    found   TEXT NOT NULL,
    next    TEXT NOT NULL,
    stop    TEXT NOT NULL CHECK (stop IN ('', 'settled', 'hopeless', 'budget', 'rounds', 'exhausted', 'bought')),
    at_ms   BIGINT NOT NULL,
    PRIMARY KEY (run_no, stage, number),
    CHECK ((stop = '') = (next <> ''))
);

-- What a run found, in a few words, as it was last computed: for lists, which compute nothing. It is out of date where the
-- version is not the run's. The leader is who is first: its score as it is shown, the interval, and the number to sort by.
CREATE TABLE headlines (
    run_no  BIGINT PRIMARY KEY REFERENCES runs (no),
    version TEXT NOT NULL,
    text    TEXT NOT NULL,
    leader       TEXT NOT NULL DEFAULT '',
    leader_score TEXT NOT NULL DEFAULT '',
    leader_range TEXT NOT NULL DEFAULT '',
    leader_value DOUBLE PRECISION
);

-- Caps on live calls that all workers of a ledger share. next_us is the next moment, in microseconds, that is not leased.
CREATE TABLE quotas (
    scope   TEXT PRIMARY KEY,
    next_us BIGINT NOT NULL
);

-- Each worker's share of a cap on requests in flight.
CREATE TABLE shares (
    scope    TEXT NOT NULL,
    holder   TEXT NOT NULL,
    wants    BIGINT NOT NULL CHECK (wants >= 0),
    has      BIGINT NOT NULL CHECK (has >= 0),
    until_ms BIGINT NOT NULL,
    PRIMARY KEY (scope, holder)
);

-- Which providers of a run a worker has keys for, said again and again, so that work which no worker can do is reported
-- instead of waiting in silence. The account is the key's fingerprint.
CREATE TABLE worker_keys (
    holder   TEXT NOT NULL,
    run_no   BIGINT NOT NULL REFERENCES runs (no),
    provider TEXT NOT NULL,
    account  TEXT NOT NULL,
    until_ms BIGINT NOT NULL,
    PRIMARY KEY (holder, run_no, provider)
);

-- Processes that drive a run, each until a moment that it puts off again and again. Who may write is decided by leases alone.
CREATE TABLE drivers (
    run_no   BIGINT NOT NULL REFERENCES runs (no),
    holder   TEXT NOT NULL,
    until_ms BIGINT NOT NULL,
    PRIMARY KEY (run_no, holder)
);

-- Files of a gateway: those that its clients sent, and the results of their batches, which have a run. Their bytes are
-- artifacts. One that is being sent has a row before its first byte, so that nothing is left behind when its gateway is
-- killed. A deleted file keeps its row.
CREATE TABLE client_files (
    no         {{serial}},
    id         TEXT NOT NULL UNIQUE,
    owner      TEXT NOT NULL,
    name       TEXT NOT NULL,
    purpose    TEXT NOT NULL,
    run_no     BIGINT REFERENCES runs (no),
    bytes      BIGINT NOT NULL CHECK (bytes >= 0),
    created_ms BIGINT NOT NULL,
    whole_ms   BIGINT, -- NULL: it is being sent, or was when its gateway stopped
    deleted_ms BIGINT
);
CREATE INDEX client_files_owner ON client_files (owner, no);
CREATE INDEX client_files_run ON client_files (run_no);

-- Live calls that a gateway passed on, each written before it leaves. One that has no ending is in flight, or was when its
-- gateway stopped: it may be billed, for at most high_nano.
CREATE TABLE client_calls (
    no            {{serial}},
    owner         TEXT NOT NULL,
    provider      TEXT NOT NULL,
    model         TEXT NOT NULL,
    began_ms      BIGINT NOT NULL,
    high_nano     BIGINT CHECK (high_nano >= 0), -- NULL: unknown
    ended_ms      BIGINT,
    ending        TEXT,
    input_tokens  BIGINT, -- NULL: the reply did not say
    output_tokens BIGINT,
    cost_nano     BIGINT CHECK (cost_nano >= 0), -- NULL: unknown
    CHECK ((ended_ms IS NULL) = (ending IS NULL)),
    CHECK (ended_ms IS NOT NULL OR cost_nano IS NULL)
);

-- The sums of client_calls by owner, kept in the transactions that write it: a budget is held against them, however many
-- calls there were.
CREATE TABLE client_sums (
    owner         TEXT PRIMARY KEY,
    calls         BIGINT NOT NULL,
    in_flight     BIGINT NOT NULL CHECK (in_flight >= 0), -- calls without an ending
    input_tokens  BIGINT NOT NULL DEFAULT 0, -- as far as replies said how many
    output_tokens BIGINT NOT NULL DEFAULT 0,
    unsaid        BIGINT NOT NULL DEFAULT 0, -- replies that did not
    spent_nano    BIGINT NOT NULL DEFAULT 0, -- as far as prices are known
    unpriced      BIGINT NOT NULL DEFAULT 0,
    taken_nano    BIGINT NOT NULL CHECK (taken_nano >= 0), -- spent, and what has no known price at its most
    no_most       BIGINT NOT NULL CHECK (no_most >= 0) -- calls of which neither is known
);

-- Users of gateways and their budgets, as the gateway that began last has them. The owner '' is all of them together.
CREATE TABLE client_users (
    owner       TEXT PRIMARY KEY,
    budget_nano BIGINT CHECK (budget_nano >= 0) -- NULL: none
);
