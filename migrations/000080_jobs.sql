-- Schema jobs: the queue of accounts-api and its worker. pg-boss makes and migrates what is in it, by a role that may make no schemas.

create schema if not exists jobs;
