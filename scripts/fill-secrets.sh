#!/bin/sh
# Gives each empty secret of an .env file for Docker Compose a random value, once: a value that is there stays. Usage: fill-secrets.sh .env
set -eu
file=${1:?the .env file, a copy of .env.compose.example}
umask 077
filled=$file.filled
while IFS= read -r line || [ -n "$line" ]; do
  case $line in
    POSTGRES_PASSWORD= | DATA_API_DATABASE_PASSWORD= | ACCOUNTS_API_DATABASE_PASSWORD= | PUBLISHER_DATABASE_PASSWORD= | REDIS_PASSWORD= | IDENTITY_SECRET= | WEBHOOK_SECRET_KEY=)
      line=$line$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')
      ;;
  esac
  printf '%s\n' "$line"
done <"$file" >"$filled"
mv "$filled" "$file"
