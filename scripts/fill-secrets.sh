#!/bin/sh
# Prepares an .env file for Docker Compose, once: each empty secret gets a random value, and COMMANDS_USER the owner of LOAD_DIR. That folder and BACKUP_DIR
# are made. A value that is there stays. Usage: fill-secrets.sh .env
set -eu
file=${1:?the .env file, a copy of .env.compose.example}
umask 077
filled=$file.filled

# The owner of a folder, as user:group. It is made; one of root, whom no container runs as, is given to the user of the image.
owner_of() {
  mkdir -p -m 755 "$1"
  owner=$(ls -nd "$1" | awk '{ print $3 ":" $4 }')
  case $owner in
    0:*)
      chown 1000:1000 "$1" || { printf '%s\n' "$1 belongs to root: give it to yourself by chown, and run this again." >&2 && exit 1; }
      owner=1000:1000
      ;;
  esac
  printf '%s' "$owner"
}

# The path that a name of the file has, or its default: relative to the folder of the file.
folder_of() {
  folder=$(sed -n "s/^$1=//p" "$file" | tail -n 1 | sed "s/^\([\"']\)\(.*\)\1\$/\2/") # without quotes, as Compose reads it
  folder=${folder:-$2}
  case $folder in
    /*) printf '%s' "$folder" ;;
    *) printf '%s/%s' "$(dirname "$file")" "$folder" ;;
  esac
}

load_owner=$(owner_of "$(folder_of LOAD_DIR load)")
owner_of "$(folder_of BACKUP_DIR backups)" >/dev/null
while IFS= read -r line || [ -n "$line" ]; do
  case $line in
    POSTGRES_PASSWORD= | DATA_API_DATABASE_PASSWORD= | ACCOUNTS_API_DATABASE_PASSWORD= | PUBLISHER_DATABASE_PASSWORD= | REDIS_PASSWORD= | IDENTITY_SECRET= | WEBHOOK_SECRET_KEY=)
      line=$line$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')
      ;;
    COMMANDS_USER=)
      line=$line$load_owner
      ;;
  esac
  printf '%s\n' "$line"
done <"$file" >"$filled"
mv "$filled" "$file"
