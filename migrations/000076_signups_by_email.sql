-- A mailed link finishes any sign-up for its e-mail address.

create index signups_email on accounts.signups (lower(email));
