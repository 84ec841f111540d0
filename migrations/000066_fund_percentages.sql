-- From now on loads round the figures of funds before storing them; the stored ones are rounded in the same way.
do $$
begin
  execute (
    select 'update data.fund_figures set '
      || string_agg(format('%1$I = to_char(%1$I, ''9.999999999EEEE'')::double precision', column_name), ', ')
    from information_schema.columns
    where table_schema = 'data' and table_name = 'fund_figures' and data_type = 'double precision' and column_name like '%\_pct');
end $$;
