-- A security keeps the name and the ISIN that it had, as a fund does, unless the load states former ones itself.
create function data.keep_security_lineage() returns trigger language plpgsql as $$
begin
  if new.name <> old.name and new.former_names = old.former_names and old.name <> all (new.former_names) then
    new.former_names := new.former_names || old.name;
  end if;
  if new.isin is distinct from old.isin and old.isin <> all (new.former_codes) and new.former_codes = old.former_codes then
    new.former_codes := new.former_codes || old.isin;
  end if;
  return new;
end $$;
create trigger keep_lineage before update on data.securities
  for each row execute function data.keep_security_lineage();
