-- The fiscal year of `fytd` begins in a month of the fund, else of its company, else of the setting FISCAL_YEAR_FIRST_MONTH.
-- The figures say from which day theirs counts: loads compute them again where that is another month than the one in force.
alter table data.amcs add column fiscal_year_first_month smallint check (fiscal_year_first_month between 1 and 12);
alter table data.funds add column fiscal_year_first_month smallint check (fiscal_year_first_month between 1 and 12);
alter table data.fund_figures add column fytd_from date; -- the first day of the fiscal year of as_of

-- All stored figures count from July.
update data.fund_figures set fytd_from = date_trunc('year', as_of - interval '6 months') + interval '6 months';
