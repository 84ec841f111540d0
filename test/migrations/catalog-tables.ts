// The constraints of schema data that commodities, the calendar, search and published files have, as cases.
import { frequencies } from '../../domain/periods.ts';
import { checksOf, currencies, hex, key, slugs, twoLoads, type TableCases } from './tables.ts';

const renameSeries = (id: string) =>
  `update data.series set series_id = '${id}' where series_id = 'commodity.wheat'`;

function commodities(): TableCases[] {
  const items = checksOf('commodity_items');
  const item = {
    ...{ item_id: 'wheat', name: 'Wheat', unit: '1 Kg', currency: 'PKR' },
    ...{ frequency: 'weekly', source: 'Tests' },
  };
  const cities = checksOf('commodity_cities');
  const city = { city_id: 'karachi', name: 'Karachi' };
  return [
    {
      table: 'data.commodity_items',
      row: item,
      filled: ['series_no'],
      nullsRefusedBy: ['series', 'commodity_items'],
      cases: [
        // An item is distinguished from others by its series too, unless that has been renamed.
        {
          constraint: 'commodity_items_pkey',
          existing: item,
          meanwhile: renameSeries('commodity.other'),
          refused: [{}],
          accepted: [{ item_id: 'rice' }],
        },
        {
          constraint: 'commodity_items_series_no_key',
          existing: item,
          meanwhile: renameSeries('commodity.rice'),
          refused: [{ item_id: 'rice' }],
          accepted: [{ item_id: 'maize' }],
        },
        // Not repeated here, because the series refuses them too: '' as a name, and invalid ids.
        ...items.pattern('item_id', slugs.accepted, ['A', 'a--b', '-a', 'a-', 'a_b', 'a'.repeat(81)]),
        ...items.pattern('name', ['é', 'é'.repeat(200)], ['é'.repeat(201)]),
        ...items.text(200, 'name_local', 'category'),
        ...items.text(80, 'unit'),
        ...items.positive('unit_quantity'),
        ...items.text(40, 'unit_measure'),
        ...items.pattern('currency', currencies.accepted, currencies.refused),
        ...items.pattern(
          'coicop',
          ['01', '01.1', '01.12', '01.1.2.3.4'],
          ['', '1', '011', '01.', '01.123', '01.1.2.3.4.5', 'a1'],
        ),
      ],
      references: [
        {
          // A trigger fills the column: only the series can go.
          constraint: 'commodity_items_series_no_fkey',
          refused: {},
          deleteParent: `delete from data.series where series_id = 'commodity.wheat'`,
          outcome: 'it is refused',
        },
      ],
    },
    {
      table: 'data.commodity_cities',
      row: city,
      filled: ['created_at'],
      cases: [
        key('commodity_cities_pkey', ['city_id'], city, { city_id: 'lahore' }),
        ...cities.pattern('city_id', [...slugs.accepted, 'nationals'], [...slugs.refused, 'national']),
        ...cities.text(200, 'name', 'province'),
        ...cities.between(-90, 90, 'latitude'),
        ...cities.between(-180, 180, 'longitude'),
      ],
    },
  ];
}

function discovery(): TableCases[] {
  const releases = checksOf('releases');
  const release = {
    ...{ release_id: 'cpi-2026-10', title: 'CPI', source: 'Tests', release_at: '2026-11-20T10:00:00Z' },
    time_zone: 'UTC',
  };
  const entries = checksOf('search_entries');
  const entry = { type: 'series', id: 'A', name: 'A', facts: '', id_text: 'a', name_text: 'a', words: '' };
  return [
    {
      table: 'data.releases',
      row: release,
      defaults: { series_ids: [] },
      cases: [
        key('releases_pkey', ['release_id'], release, { release_id: 'cpi-2026-11' }),
        ...releases.text(200, 'release_id'),
        ...releases.text(500, 'title', 'source'),
        ...releases.text(64, 'time_zone'),
        ...releases.text(100, 'reference_period'),
        ...releases.text(500, 'publication'),
        ...releases.oneOf('frequency', ...frequencies),
        ...releases.oneOf('kind', 'new', 'revised'),
        ...releases.oneOf('status', 'scheduled', 'released', 'delayed', 'cancelled'),
        ...releases.oneOf('importance', 'low', 'medium', 'high'),
        ...releases.pattern(
          'url',
          ['http://a', 'https://a', `https://${'a'.repeat(1992)}`],
          ['', 'ftp://a', 'javascript:a', ' https://a', `https://${'a'.repeat(1993)}`],
        ),
      ],
    },
    {
      table: 'data.facet_counts',
      row: { facet: 'source', value: 'Bureau', series: '1' },
      cases: [
        key(
          'facet_counts_pkey',
          ['facet', 'value'],
          { facet: 'source', value: 'Bureau' },
          { facet: 'category', value: 'Office' },
        ),
        ...checksOf('facet_counts').oneOf('facet', 'category', 'source', 'frequency', 'geography'),
      ],
    },
    {
      table: 'data.search_entries',
      row: entry,
      filled: ['entry_no'],
      cases: [
        key('search_entries_pkey', ['entry_no'], { entry_no: '1000' }, { entry_no: '1001', id: 'B' }),
        key('search_entries_type_id_key', ['type', 'id'], entry, { type: 'fund', id: 'B' }),
        ...entries.oneOf('type', 'series', 'fund', 'amc', 'security', 'commodity'),
      ],
    },
    {
      table: 'data.search_terms',
      row: { word: 'price', near: '{price}' },
      cases: [key('search_terms_pkey', ['word'], { word: 'price' }, { word: 'prices' })],
    },
  ];
}

function publishedFiles(): TableCases {
  const is = checksOf('published_files');
  const row = {
    publication: 'p',
    path: 'a.csv',
    sheet: '',
    content_sha256: `\\x${hex('a')}`,
    entry: '{}',
  };
  return {
    table: 'data.published_files',
    before: twoLoads,
    row,
    defaults: { loaded_at: 'now()' },
    cases: [
      key('published_files_pkey', ['publication', 'path', 'sheet'], row, {
        ...row,
        publication: 'q',
        path: 'b.csv',
        sheet: 'Sheet2',
      }),
      ...is.pattern(
        'publication',
        ['a', '9', 'A.b_c-9', 'a'.repeat(80)],
        ['', '.a', 'a b', 'é', 'a'.repeat(81)],
      ),
      ...is.text(2000, 'path'),
      ...is.textUpTo(200, 'sheet'),
      ...is.check(
        'content_sha256_check',
        [{ content_sha256: '\\x00' }],
        [{ content_sha256: `\\x${hex('0')}` }],
      ),
      ...is.check(
        'entry_check',
        ['[]', '1', 'null'].map((entry) => ({ entry })),
        [{ entry: '{"a": 1}' }],
      ),
    ],
    references: [
      {
        constraint: 'published_files_load_no_fkey',
        refused: { load_no: '3' },
        accepted: { load_no: '1' },
        deleteParent: 'delete from data.loads where load_no = 1',
        outcome: 'it is refused',
      },
    ],
  };
}
export const catalogTables: readonly TableCases[] = [...commodities(), ...discovery(), publishedFiles()];
