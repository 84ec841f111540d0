fredr_set_key <- function(key) Sys.setenv(FRED_API_KEY = key)

fredr_download <- function(endpoint, params, retry_times) {
  httr::RETRY("GET", "https://api.stlouisfed.org/",
    path = paste0("fred/", endpoint), query = params, times = retry_times,
    terminate_on = c(400L, 404L, 423L, 429L, 500L)
  )
}

fredr_request <- function(endpoint, ..., retry_times = 3L) {
  params <- c(list(...), api_key = Sys.getenv("FRED_API_KEY"), file_type = "json")
  answer <- fredr_download(endpoint, params, retry_times)
  if (!identical(httr::http_type(answer), "application/json")) stop(httr::http_status(answer)$message)
  content <- jsonlite::fromJSON(httr::content(answer, "text", encoding = "UTF-8"))
  if (httr::status_code(answer) != 200) stop(content$error_code, ": ", content$error_message)
  content
}

fredr_series_observations <- function(series_id, ...) {
  words <- lapply(list(...), function(word) paste(as.character(word), collapse = ","))
  rows <- do.call(fredr_request, c("series/observations", series_id = series_id, words))$observations
  data.frame(
    date = as.Date(rows$date), series_id = series_id, value = as.numeric(replace(rows$value, rows$value == ".", NA)),
    realtime_start = as.Date(rows$realtime_start), realtime_end = as.Date(rows$realtime_end)
  )
}

fredr_series <- function(series_id) fredr_request("series", series_id = series_id)$seriess

fredr_series_vintagedates <- function(series_id) {
  data.frame(vintage_dates = fredr_request("series/vintagedates", series_id = series_id)$vintage_dates)
}

fredr_series_search_text <- function(search_text, ...) {
  fredr_request("series/search", search_text = search_text, search_type = "full_text", ...)$seriess
}
