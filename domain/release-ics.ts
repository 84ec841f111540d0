// Properties of our own in iCalendar files, for facts for which the format has no property, so that loading such a file changes nothing.
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
