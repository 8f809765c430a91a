# Installs the package, types the code of its vignette line for line, and looks at what came of it.
args <- commandArgs(trailingOnly = TRUE)
source <- args[1]
lib <- args[2]
dir.create(lib)
stopifnot(system2("R", c("CMD", "INSTALL", "--no-docs=FALSE", paste0("--library=", lib), source), stdout = FALSE, stderr = "install.log") == 0)
.libPaths(c(lib, .libPaths()))

lines <- readLines(file.path(source, "vignettes", "assay.Rmd"))
fences <- grep("^```", lines)
stopifnot(length(fences) %% 2 == 0, length(fences) >= 8)
code <- unlist(lapply(seq(1, length(fences), 2), function(i) lines[(fences[i] + 1):(fences[i + 1] - 1)]))
typed <- new.env(parent = globalenv())
for (expression in parse(text = code)) eval(expression, typed)

with(typed, {
  stopifnot(inherits(essays, "assay_run"), essays$state == "done", essays$code == 0)
  stopifnot(nrow(scores) == 8, setequal(scores$by_item, sprintf("t%d", 1:8)), !is.unsorted(-scores$value))
  stopifnot(all(scores$low <= scores$value & scores$value <= scores$high, na.rm = TRUE))
  stopifnot(nrow(verdicts(essays)) == 56, nrow(items(essays)) == 8, nrow(results(essays)) == 0, nrow(requests(essays)) == 56)
  stopifnot(nrow(answers) == 6, all(answers$ending == "answered"), all(nzchar(answers$text)))
  rate <- numbers[numbers$what == "rate", ]
  stopifnot(setequal(rate$by_lane, answers$lane), all(rate$value >= 0 & rate$value <= 1))
  stopifnot(isTRUE(all.equal(strengths(old)$value, scores$value, tolerance = 1e-9)), old$study == "old")
})

# A name of a study is a run, too, and errors are the program's own sentences.
stopifnot(nrow(assay::verdicts("ranking")) == 56)
failed <- tryCatch(assay::run("nosuch"), error = conditionMessage)
stopifnot(grepl("nosuch", failed))
unpaid <- tryCatch(assay::run("ranking"), error = conditionMessage)
stopifnot(grepl("nothing was sent|OPENAI_API_KEY", unpaid))
cat("r: all as it should be\n")
