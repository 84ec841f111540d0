-- Gives the roles of the services the passwords of the environment: psql --file, after migrations/roles.sql.
\getenv data_api DATA_API_DATABASE_PASSWORD
\getenv accounts_api ACCOUNTS_API_DATABASE_PASSWORD
alter role almanac_data_api login password :'data_api';
alter role almanac_accounts_api login password :'accounts_api';
