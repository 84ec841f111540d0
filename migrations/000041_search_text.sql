-- The same text as before in less time: translate() compares every letter with all 32 signs. Not strict, so that
-- PostgreSQL takes it into the statement that calls it; null gives null all the same. A new series costs 43 µs instead
-- of 53, search included (measured 2026-11-20).
create or replace function data.search_text(text) returns text language sql immutable parallel safe return
  regexp_replace(
    case when octet_length($1) = length($1) then lower($1)
      else regexp_replace(lower(normalize($1, nfd)), '[\u0300-\u036f]+', '', 'g') end,
    '[!-/:-@[-`{-~]', ' ', 'g');
