# The package against a running installation with the demo data: Rscript tests/live.R, with ALMANAC_URL, ALMANAC_KEY (of plan Pro)
# and ALMANAC_SLOW_KEY (of plan Free, whose calls per second are few); ALMANAC_REDIRECT_URL redirects to ALMANAC_URL. Without them, as in
# R CMD check, nothing is tested. With the path of almanac.R as argument the file is sourced instead. What the functions return is compared
# with the API's CSV, read by read.csv.

options(warn = 2) # a warning is a failure
url <- Sys.getenv("ALMANAC_URL")
key <- Sys.getenv("ALMANAC_KEY")
if (!all(nzchar(c(url, key, Sys.getenv(c("ALMANAC_SLOW_KEY", "ALMANAC_REDIRECT_URL")))))) {
  cat("No installation to test against.\n")
  quit("no")
}
file <- commandArgs(trailingOnly = TRUE)
if (length(file) == 0) library(almanacclient) else source(file)
home <- environment(almanac_get) # the namespace of the package; of a sourced file, the global environment

csv <- function(path) {
  handle <- curl::new_handle()
  curl::handle_setheaders(handle, "X-API-Key" = key)
  text <- rawToChar(curl::curl_fetch_memory(paste0(url, path), handle)$content)
  utils::read.csv(text = text, check.names = FALSE)
}

test <- function(guarantee, code) {
  tryCatch(code, error = function(e) stop(guarantee, ": ", conditionMessage(e), call. = FALSE))
  cat("ok - ", guarantee, "\n", sep = "")
}

same <- function(frame, table) {
  stopifnot(nrow(table) > 0, nrow(frame) == nrow(table), inherits(frame$date, "Date"), is.double(frame$value))
  stopifnot(identical(format(frame$date), table$date), all(frame$value == table$value))
  for (name in setdiff(names(table), c("date", "value"))) stopifnot(identical(frame[[name]], table[[name]]))
}

# Evaluates `code` while calls are answered by `once`.
answering <- function(once, code) {
  replaced <- home$almanac_once
  set <- function(value) {
    if (isNamespace(home)) unlockBinding("almanac_once", home)
    assign("almanac_once", value, home)
  }
  set(once)
  on.exit(set(replaced))
  code
}

failed_once <- function(...) home$almanac_error("Because.", ...)

failure <- function(code) tryCatch({ code; stop("It did not fail.") }, almanac_error = identity)

test("a comma of a text in a list does not divide it", {
  stopifnot(home$almanac_query(list(source = c("Food, drink", "Office"))) == "?source=%22Food%2C%20drink%22%2COffice")
})

test("almanac_get equals the CSV of the API", {
  same(almanac_get("DEMO.CPI"), csv("/v1/series/DEMO.CPI?format=csv"))
  same(almanac_get("DEMO.CPI", as_of = as.Date("2026-09-30")), csv("/v1/series/DEMO.CPI?format=csv&vintage=2026-09-30"))
  same(almanac_get("DEMO.CPI", transform = "yoy", start = "2024", end = "2025-06"),
       csv("/v1/series/DEMO.CPI?format=csv&transform=yoy&from=2024&to=2025-06"))
  same(almanac_get("DEMO.GDP", release = "first"), csv("/v1/series/DEMO.GDP?format=csv&release=first"))
  same(almanac_get("DEMO.FX", dims = list(currency = c("EUR", "GBP"), side = "buy"), start = "2025"),
       csv("/v1/series/DEMO.FX?format=csv&dims=currency:EUR%7CGBP,side:buy&from=2025"))
})

test("several series are below each other, each with its metadata", {
  both <- almanac_get(c("DEMO.GDP", "DEMO.FX"), start = "2026-09")
  stopifnot(identical(names(both), c("series", "date", "currency", "side", "value")))
  stopifnot(all(is.na(both$side[both$series == "DEMO.GDP"])), !anyNA(both$side[both$series == "DEMO.FX"]))
  stopifnot(attr(both, "meta")$DEMO.GDP$unit == "Billion DMD", attr(both, "meta")$DEMO.FX$frequency == "daily")
})

test("pages make the same frame as one call", {
  whole <- almanac_get("DEMO.FX", start = "2026")
  paged <- home$almanac_series("DEMO.FX", list(from = "2026", limit = 100))$points
  stopifnot(nrow(whole) > 300, identical(paged$value, whole$value), identical(paged$date, whole$date))
  stopifnot(identical(almanac_table("/v1/catalog", limit = 3, sort = "id")$id, csv("/v1/catalog?format=csv&sort=id")$id))
  stopifnot(nrow(almanac_table("/v1/catalog", rows = 4, limit = 3)) == 4)
})

test("an error names the argument of the function instead of the parameter of the API", {
  for (error in list(failure(almanac_get("DEMO.CPI", start = "2025", end = "2024")),
                     failure(almanac_vintages("DEMO.CPI", start = "2025", end = "2024")),
                     failure(almanac_triangle("DEMO.CPI", start = "2025", end = "2024")))) {
    stopifnot(error$param == "start", error$server_message == '"start" must not be after "end".')
    stopifnot(startsWith(conditionMessage(error), error$server_message))
  }
  stopifnot(failure(almanac_get("DEMO.CPI", as_of = "2999-01-01"))$param == "as_of")
})

test("a series without points is an empty frame", {
  none <- almanac_get("DEMO.FX", end = "1900")
  stopifnot(nrow(none) == 0, identical(names(none), c("series", "date", "currency", "side", "value")))
})

test("a pinned version gives the same points again", {
  first <- almanac_get("DEMO.GDP", as_of = "2026-09-30")
  again <- almanac_get("DEMO.GDP", as_of = "2026-09-30", version = attr(first, "meta")$DEMO.GDP$version)
  stopifnot(identical(again$value, first$value))
})

test("vintages are those of the API", {
  table <- csv("/v1/series/DEMO.GDP/vintages?format=csv")
  frame <- almanac_vintages("DEMO.GDP")
  stopifnot(nrow(table) > 1, identical(format(frame$vintage), table$vintage), identical(frame$points_new, table$points_new))
})

test("the triangle is every vintage, cell by cell", {
  triangle <- almanac_triangle("DEMO.PAYROLLS", start = "2026")
  days <- almanac_vintages("DEMO.PAYROLLS", start = "2026-03")$vintage
  stopifnot(length(days) > 5, inherits(triangle$vintage, "Date"), inherits(triangle$date, "Date"))
  for (day in as.list(days)) {
    alone <- almanac_get("DEMO.PAYROLLS", start = "2026", as_of = day)
    cells <- triangle[triangle$vintage == day, ]
    stopifnot(nrow(alone) > 0, identical(cells$value, alone$value), identical(cells$date, alone$date))
  }
  dims <- almanac_triangle("DEMO.FX", start = "2026-11", dims = list(side = "buy"), last = 1)
  stopifnot(identical(names(dims), c("series", "vintage", "date", "currency", "side", "value")), nrow(dims) > 20)
  stopifnot(nrow(almanac_triangle("DEMO.FX", end = "1900")) == 0)
})

test("search and catalogue need no key", {
  Sys.setenv(ALMANAC_KEY = "")
  stopifnot("DEMO.CPI" %in% almanac_search("consumr prices")$id, nrow(almanac_catalogue(frequency = "monthly")) > 1)
  stopifnot(identical(failure(almanac_get("DEMO.CPI"))$status, 401L))
  Sys.setenv(ALMANAC_KEY = key)
})

test("an error has the server's own message", {
  error <- failure(almanac_get("DEMO.GDP", transform = "mom"))
  said <- '"mom" has no meaning for quarterly data. Use yoy or pct_change.'
  stopifnot(identical(error$server_message, said), grepl(said, conditionMessage(error), fixed = TRUE))
  stopifnot(identical(error$status, 400L), identical(error$code, "transform_not_applicable"), isTRUE(nchar(error$request_id) == 36))
  error <- failure(almanac_get("DEMO.CPI", start = "last year"))
  stopifnot(identical(error$param, "start"), !grepl(key, conditionMessage(error), fixed = TRUE))
})

test("text is UTF-8 whatever the locale is", {
  error <- failure(almanac_get("DEMO.FX", dims = "w\u00e4hrung:x"))
  stopifnot(0xe4 %in% utf8ToInt(error$server_message))
})

test("every argument is sent as the API spells it", {
  sent <- character()
  once <- function(url) {
    sent <<- c(sent, curl::curl_unescape(sub("^[^?]*/v1", "", url)))
    failed_once("gone", 410)
  }
  dims <- list(side = "buy", item = c("a,b", "c|d\\"))
  answering(once, {
    failure(almanac_get("S", as_of = as.Date("2024-03-31"), start = "2024", end = "2025", transform = "index", base = "2020", dims = dims,
                        release = "first", version = 123456789, missing = TRUE))
    failure(almanac_triangle("S", "2024", "2025", "2023", "2026", 6, "side:buy", TRUE))
  })
  stopifnot(identical(sent, c(
    paste0("/series/S?from=2024&to=2025&vintage=2024-03-31&transform=index&base=2020&dims=side:buy,item:a\\,b|c\\|d\\\\",
           "&release=first&version=123456789&include_missing=true&limit=100000"),
    "/series/S/triangle?from=2024&to=2025&vintages_from=2023&vintages_to=2026&last=6&dims=side:buy&include_missing=true")))
})

test("a redirect is not followed, so the key goes nowhere else", {
  options(almanac.url = Sys.getenv("ALMANAC_REDIRECT_URL"))
  error <- failure(almanac_call("/v1/plans"))
  options(almanac.url = NULL)
  stopifnot(identical(error$code, "unexpected_answer"), identical(error$status, 302L))
})

test("a call that met the limit per second is repeated after Retry-After", {
  options(almanac.key = Sys.getenv("ALMANAC_SLOW_KEY"))
  waits <- numeric()
  for (call in 1:200) {
    almanac_call("/v1/series/DEMO.CPI/latest", wait = function(seconds) { waits <<- c(waits, seconds); Sys.sleep(seconds) })
    if (length(waits) > 0) break
  }
  options(almanac.key = NULL)
  stopifnot(length(waits) > 0, waits == 1)
})

test("passing faults are repeated three times, with growing waits; others are not, nor waits beyond a minute", {
  ask <- function(...) {
    asked <- 0
    waits <- numeric()
    once <- function(url) {
      asked <<- asked + 1
      failed_once(...)
    }
    answering(once, failure(almanac_call("/v1/plans", wait = function(seconds) waits <<- c(waits, seconds))))
    list(asked = asked, waits = waits)
  }
  stopifnot(identical(ask("unavailable", 503), list(asked = 4, waits = c(0.5, 1, 2))))
  stopifnot(identical(ask("unreachable"), list(asked = 4, waits = c(0.5, 1, 2))))
  stopifnot(identical(ask("rate_limited", 429, retry_after = 25), list(asked = 3, waits = c(25, 25))))
  stopifnot(identical(ask("quota_exceeded", 402, retry_after = 5), list(asked = 1, waits = numeric())))
  stopifnot(ask("internal", 500)$asked == 1)
})

test("it says when no server is there", {
  options(almanac.url = "http://127.0.0.1:1")
  stopifnot(identical(failure(almanac_call("/v1/plans", wait = function(seconds) NULL))$code, "unreachable"))
  options(almanac.url = NULL)
})
