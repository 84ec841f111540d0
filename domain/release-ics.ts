// How our own iCalendar files carry what the format has no property for, so that loading one changes nothing.
// data-api writes them, ingest reads them.

/** The PRODID of the files. */
export const icsProduct = '-//Almanac//Release calendar//EN';

/** Column of the dataset calendar → property of an event; without the property the column is empty. */
export const icsProperties = {
  source: 'X-ALMANAC-SOURCE',
  publication: 'X-ALMANAC-PUBLICATION',
  release_at: 'X-ALMANAC-RELEASE-AT',
  time_zone: 'X-ALMANAC-TIME-ZONE',
  time_confirmed: 'X-ALMANAC-TIME-CONFIRMED',
  reference_period: 'X-ALMANAC-REFERENCE-PERIOD',
  frequency: 'X-ALMANAC-FREQUENCY',
  kind: 'X-ALMANAC-KIND',
  status: 'X-ALMANAC-STATUS',
  importance: 'X-ALMANAC-IMPORTANCE',
  series_ids: 'X-ALMANAC-SERIES',
} as const;
