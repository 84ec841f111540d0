#!/usr/bin/env bash
# Tries the whole system as it runs in production: see test/production/run.ts.
set -euo pipefail
cd "$(dirname "$0")/.."
exec node_modules/.bin/node test/production/run.ts "$@"
