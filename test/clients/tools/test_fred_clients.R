# fredr, and quantmod as its users point it here, against a running installation. Settings: as test_fred_clients.py.
suppressPackageStartupMessages(library(fredr))
url <- Sys.getenv("ALMANAC_URL")
download <- function(endpoint, params, retry_times) httr::GET(url, path = paste0("fred/", endpoint), query = params)
assignInNamespace("fredr_download", download, "fredr")
asked <- function(endpoint, key) {
  params <- list(series_id = "DEMO.GDP", api_key = key, file_type = "json")
  fredr:::fredr_download(endpoint, params, 1L)
}
by_v1 <- function(series, parameters = "") {
  address <- paste0(url, "/v1/series/", series, "?format=csv&limit=100000", parameters)
  answer <- httr::GET(address, httr::add_headers("X-API-Key" = Sys.getenv("ALMANAC_KEY")))
  read.csv(text = httr::content(answer, "text", encoding = "UTF-8"))$value
}
message_of <- function(key, series) {
  fredr_set_key(key)
  tryCatch({ fredr_series_observations(series); "no error" }, error = conditionMessage)
}

fredr_set_key(Sys.getenv("ALMANAC_KEY"))
stopifnot(identical(fredr_series_observations("DEMO.GDP")$value, by_v1("DEMO.GDP")))
stopifnot("DEMO.GDP" %in% fredr_series_search_text("gross product")$id)
stopifnot(identical(fredr_series("DEMO.GDP")$frequency, "Quarterly"))
days <- as.character(fredr_series_vintagedates("DEMO.PAYROLLS")$vintage_dates)
day <- days[length(days) - 1]
known <- fredr_series_observations("DEMO.PAYROLLS", realtime_start = as.Date(day), realtime_end = as.Date(day))
stopifnot(identical(known$value, by_v1("DEMO.PAYROLLS", paste0("&vintage=", day))))
stopifnot(all(unique(known$realtime_start) == as.Date(day)))
releases <- fredr_series_observations("DEMO.PAYROLLS", vintage_dates = as.Date(days))
stopifnot(setequal(as.character(releases$realtime_start), days))

stopifnot(grepl("401: .*API key", message_of("pk_live_unknown", "DEMO.GDP")))
stopifnot(grepl("402: The monthly quota of 1 call is used up", message_of(Sys.getenv("ALMANAC_SPENT_KEY"), "DEMO.GDP")))
stopifnot(grepl("404: There is no series", message_of(Sys.getenv("ALMANAC_KEY"), "NOPE")))
# fredr waits when it gets 429, and shows a text of its own: only the answer that it gets is compared.
for (attempt in 1:200) {
  hurried <- asked("series/observations", Sys.getenv("ALMANAC_SLOW_KEY"))
  if (httr::status_code(hurried) != 200) break
}
refused <- jsonlite::fromJSON(httr::content(hurried, "text", encoding = "UTF-8"))
stopifnot(httr::http_type(hurried) == "application/json", refused$error_code == 429)
stopifnot(grepl("the plan allows 1 a second", refused$error_message), !is.null(httr::headers(hurried)$`retry-after`))
cat("fredr reads series, vintages and a search, and shows the messages of errors\n")

# The recipe of quantmod with another key and series, and scripts that name FRED as their source.
if (requireNamespace("quantmod", quietly = TRUE)) {
  recipe <- gsub("http://127.0.0.1:8080", url, Sys.getenv("ALMANAC_QUANTMOD_RECIPE"), fixed = TRUE)
  by_recipe <- function(key, series) {
    own <- gsub("DEMO.GDP", series, gsub("KEY", key, recipe, fixed = TRUE), fixed = TRUE)
    eval(parse(text = own), globalenv())
  }
  refusal <- function(key, series) tryCatch({ by_recipe(key, series); "no error" }, error = conditionMessage)
  by_recipe(Sys.getenv("ALMANAC_KEY"), "DEMO.GDP")
  by_fred <- quantmod::getSymbols("DEMO.GDP", src = "FRED", auto.assign = FALSE)
  stopifnot(identical(as.numeric(by_fred), by_v1("DEMO.GDP")))
  stopifnot(grepl("API key", refusal("pk_live_unknown", "DEMO.GDP")))
  stopifnot(grepl("The monthly quota of 1 call is used up", refusal(Sys.getenv("ALMANAC_SPENT_KEY"), "DEMO.GDP")))
  stopifnot(grepl("There is no series", refusal(Sys.getenv("ALMANAC_KEY"), "NOPE")))
  for (attempt in 1:200) {
    said <- refusal(Sys.getenv("ALMANAC_SLOW_KEY"), "DEMO.GDP")
    if (said != "no error") break
  }
  stopifnot(grepl("the plan allows 1 a second", said))
  cat("quantmod reads a series by its recipe and as FRED, and shows the messages of errors\n")
}
