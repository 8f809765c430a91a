# Drives the program assay, and hands its results out as data frames (tibbles where the package tibble is there).
# Where a run is wanted, it is what every command takes: the id of a run, the beginning of one, the name of a study, or "latest";
# what run(), compare() and import_pairwisellm() return is one, too. `home` is the folder of the ledger, as with --home.

# What a run may end with that leaves results: 3 incomplete, 4 a budget, 5 a person has to decide, 6 a requirement that is not met.
ended <- c(0L, 3L, 4L, 5L, 6L)

run <- function(study = ".", rehearse = FALSE, yes = FALSE, budget = NULL, mode = NULL, new = FALSE, limit = NULL,
                settings = list(), note = NULL, progress = interactive(), home = NULL) {
  args <- c("run", study, if (rehearse) "--rehearse" else if (yes) "--yes", if (new) "--new",
            flag("--budget", budget), flag("--mode", mode), flag("--limit", limit), flag("--note", note), set(settings))
  said <- call(args, home, fine = ended, progress = progress)
  newest(plan(study, settings)$study, rehearse, home, said$code)
}

compare <- function(rows, models, question = NULL, answer = NULL, judge = NULL, folder = "comparison", ...) {
  dir.create(folder, showWarnings = FALSE, recursive = TRUE)
  if (is.data.frame(rows)) {
    table <- file.path(folder, "rows.jsonl")
    to <- file(table, "w", encoding = "UTF-8")
    on.exit(close(to), add = TRUE)
    stream_out(as.data.frame(rows), to, verbose = FALSE, digits = NA)
    flush(to)
    rows <- table
  }
  if (!file.exists(file.path(folder, "study.yaml"))) {
    call(c("init", folder, "--from", rows, "--models", paste(models, collapse = ","), flag("--question", question),
           flag("--answer", answer), flag("--judge", judge)))
  }
  run(folder, ...)
}

plan <- function(study = ".", settings = list()) {
  fromJSON(call(c("plan", study, "--json", set(settings)), fine = c(0L, 3L, 6L))$out)
}

requests <- function(run = "latest", home = NULL) exported("answers", run, home)

results <- function(run = "latest", home = NULL) {
  rows <- requests(run, home)
  if (nrow(rows) == 0) return(rows)
  rows[!rows$verb %in% c("judge", "compare"), , drop = FALSE]
}

verdicts <- function(run = "latest", home = NULL) exported("verdicts", run, home)

items <- function(run = "latest", home = NULL) exported("items", run, home)

findings <- function(run = "latest", home = NULL) {
  at <- place(run, home)
  found <- fromJSON(call(c("analyse", at$run, "--json"), at$home, fine = c(0L, 3L, 6L))$out, simplifyVector = FALSE)
  rows <- list()
  for (one in found$runs) for (table in one$tables) for (finding in table$findings) {
    plain <- Filter(function(x) length(x) == 1 && !is.list(x), finding)
    by <- finding$by
    if (length(by)) names(by) <- paste0("by_", names(by))
    rows[[length(rows) + 1]] <- c(list(run = one$run, study = one$study, stage = table$stage %or% NA, table = table$title %or% NA,
                                       incomplete = table$incomplete %or% NA), by, plain)
  }
  framed(rows)
}

strengths <- function(run = "latest", home = NULL) {
  rows <- findings(run, home)
  if (!"what" %in% names(rows) || !"by_item" %in% names(rows)) return(rows[0, , drop = FALSE])
  rows <- rows[rows$what == "strength" & !is.na(rows$by_item), , drop = FALSE]
  rows[order(rows$stage, -rows$value), , drop = FALSE]
}

import_pairwisellm <- function(project, study = basename(normalizePath(project)), folder = tempfile("assay"), home = NULL) {
  said <- call(c("import", "--format", "pairwisellm", project, "--out", folder, "--study", study), home, fine = ended)
  newest(study, FALSE, home, said$code)
}

program <- function() {
  own <- Sys.getenv("ASSAY")
  found <- if (nzchar(own)) own else unname(Sys.which("assay"))
  if (!nzchar(found)) stop("the program assay is not installed: put it on the PATH, or name it in the environment variable ASSAY")
  found
}

print.assay_run <- function(x, ...) {
  cat(x$sentence, "\n", sep = "")
  invisible(x)
}

`%or%` <- function(a, b) if (is.null(a)) b else a

flag <- function(name, value) if (!is.null(value)) c(name, format(value, scientific = FALSE, trim = TRUE))

set <- function(settings) {
  unlist(lapply(names(settings), function(name) {
    value <- settings[[name]]
    c("--set", paste0(name, "=", if (is.character(value)) value else toJSON(value, auto_unbox = TRUE)))
  }))
}

# call runs a command and returns what it wrote and its exit code; what the program says of an error is the error.
call <- function(args, home = NULL, fine = 0L, progress = FALSE) {
  out <- tempfile("out")
  err <- tempfile("err")
  on.exit(unlink(c(out, err)))
  code <- system2(program(), shQuote(c(args, flag("--home", home))), stdout = out, stderr = if (progress) "" else err, stdin = "")
  if (!code %in% fine) {
    said <- if (file.exists(err)) tail(readLines(err, warn = FALSE, encoding = "UTF-8"), 40)
    stop(if (length(said)) paste(said, collapse = "\n") else sprintf("assay ended with exit code %d", code), call. = FALSE)
  }
  list(out = paste(readLines(out, warn = FALSE, encoding = "UTF-8"), collapse = "\n"), code = code)
}

newest <- function(study, rehearsal, home, code) {
  args <- c("runs", "--study", study, "--limit", "1", "--json", if (rehearsal) "--rehearsal")
  one <- fromJSON(call(args, home)$out, simplifyVector = FALSE)$runs[[1]]
  structure(list(run = one$run, study = study, state = one$state, sentence = one$sentence, code = code, home = home), class = "assay_run")
}

place <- function(run, home) if (inherits(run, "assay_run")) list(run = run$run, home = home %or% run$home) else list(run = run, home = home)

exported <- function(name, run, home) {
  at <- place(run, home)
  folder <- tempfile("assay")
  on.exit(unlink(folder, recursive = TRUE))
  call(c("export", at$run, "--format", "jsonl", "--out", folder), at$home)
  from <- file(file.path(folder, paste0(name, ".jsonl")), encoding = "UTF-8")
  as_table(stream_in(from, verbose = FALSE))
}

# framed makes one table of rows with different columns; what a row has not is NA.
framed <- function(rows) {
  names <- unique(unlist(lapply(rows, base::names)))
  columns <- lapply(names, function(name) unlist(lapply(rows, function(row) row[[name]] %or% NA)))
  as_table(as.data.frame(setNames(columns, names), check.names = FALSE))
}

as_table <- function(frame) if (requireNamespace("tibble", quietly = TRUE)) tibble::as_tibble(frame) else frame
