#!/usr/bin/env bash
# Reads the same series with pandas (CSV and JSON), R and LibreOffice, and compares the tables cell by cell.
# Usage: check.sh <URL of the gateway> <API key>
# Missing programs are installed on Debian as root, otherwise named; the check fails if any is missing.
set -euo pipefail
url=$1 key=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

pandas() { "$python" -c 'import pandas'; }
python=python3
pandas 2>"$work/found" || python=/usr/bin/python3 # Debian's own, where another is before it on the PATH
if ! { pandas && Rscript -e 'library(curl); library(jsonlite)' && command -v soffice; } >"$work/found" 2>&1; then
  if [ "$(id -u)" = 0 ] && [ -f /etc/debian_version ]; then
    echo 'Installing python3-pandas, r-base-core, r-cran-curl, r-cran-jsonlite and libreoffice-calc …'
    apt-get update -qq && apt-get install -y -qq --no-install-recommends python3-pandas r-base-core r-cran-curl r-cran-jsonlite libreoffice-calc >"$work/apt" 2>&1
  else
    echo 'This check needs python3 with pandas, Rscript with curl and jsonlite, and soffice (LibreOffice).' && exit 1
  fi
fi

compare() { # <series> <query>
  local series=$1 target="$url/v1/series/$1?limit=100000$2"
  "$python" "$here/pandas_csv.py" "$target&format=csv&api_key=$key" >"$work/pandas-csv"
  "$python" "$here/pandas_json.py" "$target&api_key=$key" >"$work/pandas-json"
  Rscript --vanilla "$here/r.R" "$target&format=csv&api_key=$key" >"$work/r"
  # LibreOffice opens the URL as a person would type it, and saves what it read.
  soffice -env:UserInstallation="file://$work/office" --headless --calc --convert-to csv --outdir "$work/out" \
    "$target&format=csv&api_key=$key" >"$work/soffice.log" 2>&1
  "$python" "$here/canonical.py" "$work"/out/* >"$work/libreoffice"
  rm -rf "$work/out"
  for other in pandas-json r libreoffice; do
    diff "$work/pandas-csv" "$work/$other" >"$work/diff" || { echo "$series: pandas-csv and $other differ:"; head -20 "$work/diff"; exit 1; }
  done
  echo "$series: pandas read_csv and read_json, R and LibreOffice agree in $(($(wc -l <"$work/pandas-csv") - 1)) rows"
}

compare DEMO.CPI ''
compare DEMO.FX '&dims=currency:EUR&from=2025'
