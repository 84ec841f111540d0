# Series, vintages and tables of an Almanac data API as data frames: almanac_get("DEMO.CPI", as_of = "2026-09-30").
# It needs the packages curl and jsonlite. Hides HTTP, pages, and which failures are repeated. The package almanacclient is this file,
# with help pages; source("almanac.R") does without the package.

#' Client of an Almanac data API
#'
#' Series, vintages and tables as data frames. [almanac_get()] reads series, [almanac_vintages()] and [almanac_triangle()] their history,
#' [almanac_search()] and [almanac_catalogue()] find them, and [almanac_table()] reads any other list.
#'
#' The address and the key come from the environment, `ALMANAC_URL` (default `http://127.0.0.1:8080`) and `ALMANAC_KEY`, or from
#' `options(almanac.url = , almanac.key = )`. The key travels in a header, and never follows a redirect.
#'
#' A call that fails is an error of class `almanac_error`: see [almanac_call()].
#' @name almanacclient-package
#' @aliases almanacclient
#' @keywords internal
NULL

#' The points of one series or several
#'
#' @param series One id or several.
#' @param as_of The data as published at the end of that day, as "2026-09-30" or a Date. Needs the feature `vintages` of the plan.
#' @param start,end Inclusive: a day or a period such as "2024", "2024-Q1", "2024-03".
#' @param transform Such as "yoy" or "index": `/docs/transforms` of the dashboard has all of them.
#' @param base The date at which an index is 100.
#' @param dims list(currency = c("EUR", "USD"), side = "buy"), or the API's text "currency:EUR|USD,side:buy".
#' @param release "first": each value as first published. Needs the feature `vintages`.
#' @param version A version of the metadata: with `as_of` or `release` it pins the answer to that load.
#' @param missing Keeps the dates whose value was published as missing.
#' @param frequency "weekly", "monthly", "quarterly", "semiannual" or "annual", to which values are aggregated before they are transformed.
#' @param aggregate "avg", "sum", "last", "first", "min" or "max".
#' @param incomplete Includes periods that are not complete.
#' @return A data frame with `series`, `date` (Date), a column per dimension, and `value` (NA where missing). Its attribute `meta` has the
#'   metadata by series id: unit, frequency, source, version and more.
#' @examples
#' \dontrun{
#' almanac_get("DEMO.CPI", as_of = "2026-09-30", start = "2024")
#' almanac_get("DEMO.FX", dims = list(currency = c("EUR", "GBP"), side = "buy"))
#' }
#' @export
almanac_get <- function(series, as_of = NULL, start = NULL, end = NULL, transform = NULL, base = NULL,
                        dims = NULL, release = NULL, version = NULL, missing = FALSE,
                        frequency = NULL, aggregate = NULL, incomplete = FALSE) {
  query <- list(from = start, to = end, vintage = as_of, transform = transform, base = base,
                dims = almanac_dims(dims), release = release, version = version,
                include_missing = if (missing) "true", frequency = frequency,
                aggregate = aggregate, incomplete = if (incomplete) "true", limit = 100000)
  answers <- almanac_named(lapply(series, function(id) almanac_series(id, query)))
  frame <- almanac_bind(lapply(answers, `[[`, "points"))
  attr(frame, "meta") <- stats::setNames(lapply(answers, `[[`, "meta"), series)
  frame
}

#' The days on which a series was published or revised
#'
#' @param series The id of a series.
#' @param start,end Inclusive: a day or a period such as "2024", "2024-Q1", "2024-03".
#' @return A data frame with `vintage` (Date) and how many points were new, revised and deleted.
#' @export
almanac_vintages <- function(series, start = NULL, end = NULL) {
  path <- paste0("/v1/series/", curl::curl_escape(series), "/vintages")
  frame <- almanac_named(almanac_table(path, from = start, to = end))
  if (nrow(frame) > 0) frame$vintage <- as.Date(frame$vintage)
  frame
}

#' Every vintage of a series in one call
#'
#' @param series The id of a series.
#' @param start,end,dims Select points, as for [almanac_get()].
#' @param vintages_start,vintages_end,last Select vintages; `last` is the newest so many.
#' @param missing Keeps the cells that were published as missing.
#' @return A data frame with a row per cell: `series`, `vintage` and `date` (Date), a column per dimension, and `value`. Its attribute `meta`
#'   is that of [almanac_get()].
#' @export
almanac_triangle <- function(series, start = NULL, end = NULL, vintages_start = NULL, vintages_end = NULL, last = NULL,
                             dims = NULL, missing = FALSE) {
  query <- list(from = start, to = end, vintages_from = vintages_start, vintages_to = vintages_end, last = last,
                dims = almanac_dims(dims), include_missing = if (missing) "true")
  answer <- almanac_named(almanac_call(paste0("/v1/series/", curl::curl_escape(series), "/triangle"), query))
  frame <- almanac_points(answer)
  vintage <- if (is.data.frame(answer$data)) answer$data$vintage else character()
  frame <- cbind(frame["series"], vintage = as.Date(vintage), frame[-1])
  attr(frame, "meta") <- stats::setNames(list(answer$meta), series)
  frame
}

#' All rows of any list of the API
#'
#' @param path Such as "/v1/securities/trades". `/docs/reference` of the dashboard has them all, with their parameters.
#' @param ... The parameters, such as `category = "Equity"`.
#' @param rows At most so many; each page of 1,000 is a call.
#' @return A data frame. Dates are texts, as the API writes them.
#' @examples
#' \dontrun{
#' almanac_table("/v1/funds", category = "Equity")
#' }
#' @export
almanac_table <- function(path, ..., rows = Inf) {
  query <- utils::modifyList(list(limit = min(rows, 1000)), list(...))
  pages <- list()
  repeat {
    answer <- almanac_call(path, query)
    pages[[length(pages) + 1]] <- if (is.data.frame(answer$data)) answer$data else data.frame()
    rows <- rows - NROW(pages[[length(pages)]])
    query$cursor <- answer$pagination$next_cursor
    if (is.null(query$cursor) || rows <= 0) break
  }
  frame <- almanac_bind(pages)
  utils::head(frame, nrow(frame) + min(rows, 0))
}

#' The best matches among series, funds, companies, securities and commodities
#'
#' Needs no key.
#' @param q The words to search for.
#' @param rows At most so many.
#' @param ... Other parameters of `/v1/search`.
#' @return A data frame, the best match first.
#' @export
almanac_search <- function(q, rows = 20, ...) almanac_table("/v1/search", q = q, rows = rows, ...)

#' The series of the installation
#'
#' Needs no key.
#' @param ... Filters, such as `frequency = "monthly"`, and `rows` of [almanac_table()].
#' @return A data frame with a row per series.
#' @export
almanac_catalogue <- function(...) almanac_table("/v1/catalog", ...)

#' One answer of the API, parsed by jsonlite
#'
#' 429, 502, 503, 504 and lost connections are repeated, three times at most: after the seconds of Retry-After, or after 0.5, 1 and 2;
#' if a call would wait for more than 60 seconds in all, it fails at once. Any other failure is an error of class `almanac_error` with the
#' server's own message, and `status`, `code`, `param`, `request_id` and `retry_after`.
#' @param path Such as "/v1/plans".
#' @param query A named list of parameters; those that are NULL are left out.
#' @param wait Called with the seconds to wait.
#' @return A list: the answer, with its `data` as a data frame where it is a list of records.
#' @export
almanac_call <- function(path, query = list(), wait = Sys.sleep) {
  url <- paste0(almanac_setting("url", "http://127.0.0.1:8080"), path, almanac_query(query))
  waited <- 0
  for (seconds in c(0.5, 1, 2, NA)) {
    answer <- almanac_once(url)
    if (!inherits(answer, "almanac_error")) return(answer)
    if (!is.na(answer$retry_after)) seconds <- if (is.na(seconds)) NA else answer$retry_after
    passes <- answer$code == "unreachable" || answer$status %in% c(429, 502, 503, 504)
    if (!passes || is.na(seconds) || waited + seconds > 60) stop(answer)
    waited <- waited + seconds
    wait(seconds)
  }
}

almanac_version <- "0.1.0" # as in DESCRIPTION, which a file that is sourced does not have

# The parsed answer, or the error as a value.
almanac_once <- function(url) {
  handle <- curl::new_handle(followlocation = FALSE, connecttimeout = 30, low_speed_limit = 1, low_speed_time = 60)
  key <- almanac_setting("key", "")
  headers <- list(Accept = "application/json", "User-Agent" = paste0("almanac-r/", almanac_version))
  if (nzchar(key)) headers[["X-API-Key"]] <- key
  do.call(curl::handle_setheaders, c(list(handle), headers))
  sent <- tryCatch(curl::curl_fetch_memory(url, handle), error = identity)
  if (inherits(sent, "error")) {
    return(almanac_error(paste0("No answer from ", url, ": ", conditionMessage(sent)), "unreachable"))
  }
  text <- rawToChar(sent$content)
  Encoding(text) <- "UTF-8" # whatever the locale is
  answer <- tryCatch(jsonlite::fromJSON(text, flatten = TRUE), error = function(e) NULL)
  if (sent$status_code == 200 && is.list(answer) && isTRUE(answer$success)) return(answer)
  headers <- curl::parse_headers_list(sent$headers)
  retry_after <- suppressWarnings(as.numeric(c(headers[["retry-after"]], NA)[1]))
  error <- if (is.list(answer) && is.list(answer$error)) answer$error
  if (is.null(error$code) || is.null(error$message)) {
    what <- paste0(url, " answered ", sent$status_code, " without an error message of Almanac. Check the URL, and any proxy in between.")
    return(almanac_error(what, "unexpected_answer", sent$status_code, retry_after = retry_after))
  }
  almanac_error(error$message, error$code, sent$status_code, error$param, error$request_id, retry_after)
}

almanac_error <- function(message, code, status = NA, param = NULL, request_id = NULL, retry_after = NA) {
  facts <- c(if (is.na(status)) code else paste(status, code), if (!is.null(request_id)) paste("request", request_id))
  shown <- paste0(message, " (", paste(facts, collapse = ", "), ")")
  fields <- list(message = shown, call = NULL, server_message = message, code = code, status = status, param = param,
                 request_id = request_id, retry_after = retry_after)
  structure(class = c("almanac_error", "error", "condition"), fields)
}

almanac_arguments <- c(from = "start", to = "end", vintage = "as_of", include_missing = "missing",
                       vintages_from = "vintages_start", vintages_to = "vintages_end")

# Evaluates `code`, whose errors name the arguments of our functions instead of the parameters of the API.
almanac_named <- function(code) {
  tryCatch(code, almanac_error = function(error) {
    message <- error$server_message
    # Other messages may quote a dimension with such a name.
    if (error$code == "invalid_parameter") for (name in names(almanac_arguments)) {
      message <- gsub(dQuote(name, FALSE), dQuote(almanac_arguments[[name]], FALSE), message, fixed = TRUE)
    }
    is_renamed <- !is.null(error$param) && error$param %in% names(almanac_arguments)
    param <- if (is_renamed) almanac_arguments[[error$param]] else error$param
    stop(almanac_error(message, error$code, error$status, param, error$request_id, error$retry_after))
  })
}

# One series with all of its pages.
almanac_series <- function(id, query) {
  path <- paste0("/v1/series/", curl::curl_escape(id))
  pages <- list()
  repeat {
    answer <- almanac_call(path, query)
    pages[[length(pages) + 1]] <- almanac_points(answer)
    query$cursor <- answer$pagination$next_cursor
    if (is.null(query$cursor)) break
  }
  list(meta = answer$meta, points = almanac_bind(pages))
}

almanac_points <- function(answer) {
  data <- if (is.data.frame(answer$data)) answer$data else data.frame(date = character(), value = numeric())
  frame <- data.frame(series = rep(answer$series, nrow(data)), date = as.Date(data$date), stringsAsFactors = FALSE)
  names <- if (is.data.frame(answer$meta$dims)) answer$meta$dims$name else character()
  for (name in names) {
    column <- data[[paste0("dims.", name)]]
    frame[[name]] <- if (is.null(column)) rep(NA_character_, nrow(data)) else column
  }
  frame$value <- as.numeric(data$value)
  frame
}

# Frames below each other; a column that one of them lacks is NA there.
almanac_bind <- function(frames) {
  frames <- Filter(function(frame) ncol(frame) > 0, frames)
  if (length(frames) == 0) return(data.frame())
  columns <- unique(unlist(lapply(frames, names)))
  if ("value" %in% columns) columns <- c(setdiff(columns, "value"), "value")
  frames <- lapply(frames, function(frame) {
    for (name in setdiff(columns, names(frame))) frame[[name]] <- rep(NA, nrow(frame))
    frame[columns]
  })
  do.call(rbind, frames)
}

# "currency:EUR|USD,side:buy"; a comma, | or backslash of a name or value is escaped.
almanac_dims <- function(dims) {
  if (is.null(dims) || is.character(dims)) return(dims)
  escaped <- function(text) gsub("([\\\\,|])", "\\\\\\1", text)
  values <- vapply(dims, function(each) paste(escaped(each), collapse = "|"), "")
  paste0(escaped(names(dims)), ":", values, collapse = ",")
}

almanac_query <- function(query) {
  query <- Filter(Negate(is.null), query)
  if (length(query) == 0) return("")
  text <- vapply(names(query), function(name) {
    value <- query[[name]]
    if (is.numeric(value)) value <- format(value, scientific = FALSE, digits = 15, trim = TRUE)
    # Of several texts, one is quoted if a comma or a quote of its own would divide it.
    if (is.character(value) && length(value) > 1 && name != "dims")
      value <- ifelse(grepl('[",]', value), paste0('"', gsub('"', '""', value), '"'), value)
    if (is.logical(value)) tolower(value) else paste(value, collapse = ",")
  }, "")
  paste0("?", paste0(names(query), "=", curl::curl_escape(text), collapse = "&"))
}

almanac_setting <- function(name, default) {
  value <- getOption(paste0("almanac.", name), Sys.getenv(paste0("ALMANAC_", toupper(name))))
  sub("/$", "", if (nzchar(value)) value else default)
}
