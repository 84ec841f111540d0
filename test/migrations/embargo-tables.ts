// The constraints of schema embargo as cases.
import { at } from './account-rows.ts';
import { checksOf, hex, key, type TableCases } from './tables.ts';

const row = {
  ...{ dataset: 'observations', source_name: '-', options: '{}', lead_ms: '0', file_bytes: '0' },
  ...{ file_sha256: hex('a'), checked: '{}', created_at: at },
};
const whole = { ...row, release_at: at };

function releases(): TableCases {
  const is = checksOf('releases');
  const ended = { state: 'cancelled', ended_at: at };
  const released = { state: 'released', ended_at: at, due_at: at, outcome: '{}' };
  const failed = { state: 'failed', ended_at: at, outcome: '{}' };
  const noObjects = ['[]', '1', 'null', '""'];
  return {
    table: 'embargo.releases',
    row,
    defaults: { state: 'pending' },
    filled: ['release_no'],
    needs: { release_at: at },
    cases: [
      key('releases_pkey', ['release_no'], { ...whole, release_no: '1' }, { ...whole, release_no: '2' }),
      ...is.check(
        'state_check',
        [
          { state: 'other', ended_at: at },
          { state: '', ended_at: at },
        ],
        [{}, ended],
      ),
      ...is.check(
        'calendar_id_check',
        ['', 'é'.repeat(201)].map((id) => ({ release_at: null, calendar_id: id })),
        ['é', 'é'.repeat(200)].map((id) => ({ release_at: null, calendar_id: id })),
      ),
      ...is.text(64, 'dataset'),
      ...is.textUpTo(1024, 'source_name'),
      ...is.check(
        'options_check',
        noObjects.map((options) => ({ options })),
        [{ options: '{"a": 1}' }],
      ),
      ...is.whole(0, 86_400_000, 'lead_ms'),
      ...is.wholeFrom(0, 'file_bytes'),
      ...is.pattern('file_sha256', [hex('0'), hex('f')], ['', hex('g'), hex('A'), `${hex('a')}a`]),
      ...is.check(
        'checked_check',
        noObjects.map((checked) => ({ checked })),
        [{ checked: '{"a": 1}' }],
      ),
      ...is.check(
        'outcome_check',
        noObjects.map((outcome) => ({ ...failed, outcome })),
        [failed],
      ),
      ...is.check(
        'instant_check',
        [{ release_at: null }, { calendar_id: 'r' }],
        [{ release_at: null, calendar_id: 'r' }, {}],
      ),
      ...is.check('end_check', [{ ended_at: at }, { state: 'cancelled' }], [ended, {}]),
      ...is.check(
        'due_check',
        [{ due_at: at }, { ...released, due_at: null }, { ...failed, due_at: at }],
        [released, failed],
      ),
      ...is.check(
        'outcome_present_check',
        [
          { outcome: '{}' },
          { ...ended, outcome: '{}' },
          { ...failed, outcome: null },
          { ...released, outcome: null },
        ],
        [released, failed, ended],
      ),
    ],
  };
}

const one = `insert into embargo.releases (release_no, ${Object.keys(whole).join(', ')})
  overriding system value values (1, ${Object.values(whole)
    .map((value) => `'${value}'`)
    .join(', ')})`;

const ofRelease = (table: string, change = {}) => ({
  constraint: `${table}_release_no_fkey`,
  refused: { ...change, release_no: '2' },
  deleteParent: 'delete from embargo.releases',
  outcome: 'the row goes too' as const,
});

function pieces(): TableCases {
  const is = checksOf('pieces');
  const piece = { release_no: '1', position: '0', bytes: '\\x00' };
  const ofBytes = (count: number) => ({ bytes: `\\x${'00'.repeat(count)}` });
  return {
    table: 'embargo.pieces',
    before: [one, one.replace('(1,', '(3,')],
    row: piece,
    cases: [
      key('pieces_pkey', ['release_no', 'position'], piece, {
        release_no: '3',
        position: '1',
        bytes: '\\x01',
      }),
      ...is.wholeFrom(0, 'position'),
      ...is.check('bytes_check', [ofBytes(0), ofBytes(1_048_577)], [ofBytes(1), ofBytes(1_048_576)]),
    ],
    references: [ofRelease('pieces')],
  };
}

function history(): TableCases {
  const is = checksOf('history');
  const entry = { release_no: '1', at, event: 'accepted', actor: 'almanac' };
  return {
    table: 'embargo.history',
    before: [one],
    row: entry,
    filled: ['entry_no'],
    cases: [
      key('history_pkey', ['entry_no'], { ...entry, entry_no: '1' }, { ...entry, entry_no: '2' }),
      ...is.oneOf('event', 'accepted', 'hastened', 'cancelled', 'released', 'failed'),
      ...is.text(500, 'actor', 'detail'),
    ],
    references: [ofRelease('history')],
  };
}

function interruptions(): TableCases {
  const row = { release_no: '1', transaction: '3/17' };
  return {
    table: 'embargo.interruptions',
    before: [one, one.replace('(1,', '(3,')],
    row,
    filled: ['at'],
    cases: [
      key('interruptions_pkey', ['release_no', 'transaction'], row, { release_no: '3', transaction: '3/18' }),
      ...checksOf('interruptions').pattern(
        'transaction',
        ['3/18', '10/123456'],
        ['', '3', '3/', '/3', 'a/3', '3/17 '],
      ),
    ],
    references: [ofRelease('interruptions')],
  };
}

function publishers(): TableCases {
  const seen = { instance: 'a', seen_at: at };
  return {
    table: 'embargo.publishers',
    row: seen,
    cases: [
      key('publishers_pkey', ['instance'], seen, { ...seen, instance: 'b' }),
      ...checksOf('publishers').text(200, 'instance'),
    ],
  };
}

function sources(): TableCases {
  const is = checksOf('sources');
  const source = {
    ...{
      name: 'prices.gold',
      publication: 'prices',
      url: 'https://example.org/gold.csv',
      sheet: '',
      entry: '{}',
    },
    ...{ schedule: 'hourly', registered_at: at, fetch_at: at },
  };
  const lease = { lease: '00000000-0000-4000-8000-000000000000', leased_until: at };
  const failing = { failures: '1', failing_since: at };
  const fetched = { fetched_at: at, outcome: '{}' };
  const noObjects = ['[]', '1', 'null', '""'];
  return {
    table: 'embargo.sources',
    row: source,
    defaults: { failures: 0 },
    cases: [
      key('sources_pkey', ['name'], source, {
        ...source,
        name: 'prices.gold.2',
        url: 'https://example.org/2',
      }),
      key('sources_place_key', ['publication', 'url', 'sheet'], source, {
        ...{ name: 'b', publication: 'c', url: 'http://d', sheet: 'e' },
      }),
      ...is.pattern('name', ['a', `A${'.'.repeat(199)}`], ['', '.a', 'a b', `A${'.'.repeat(200)}`]),
      ...is.text(80, 'publication'),
      ...is.pattern(
        'url',
        ['http://a', `https://${'é'.repeat(2040)}`],
        ['', 'ftp://a', `https://${'é'.repeat(2041)}`],
      ),
      ...is.textUpTo(500, 'sheet'),
      ...is.check(
        'entry_check',
        noObjects.map((entry) => ({ entry })),
        [{ entry: '{"a": 1}' }],
      ),
      ...is.text(64, 'schedule'),
      ...is.textUpTo(1024, 'etag'),
      ...is.textUpTo(128, 'last_modified'),
      ...is.pattern('ended_sha256', [hex('0'), hex('f')], ['', hex('g'), hex('A'), `${hex('a')}a`]),
      ...is.pattern('content_sha256', [hex('0'), hex('f')], ['', hex('g'), hex('A'), `${hex('a')}a`]),
      ...is.check('failures_check', [{ ...failing, failures: '-1' }], [failing, { failures: '0' }]),
      ...is.check(
        'outcome_check',
        noObjects.map((outcome) => ({ ...fetched, outcome })),
        [fetched],
      ),
      ...is.check(
        'lease_check',
        [
          { ...lease, lease: null },
          { ...lease, leased_until: null },
        ],
        [lease, {}],
      ),
      ...is.check('failing_check', [{ failures: '1' }, { failing_since: at }], [failing, {}]),
      ...is.check('fetched_check', [{ fetched_at: at }, { outcome: '{}' }], [fetched, {}]),
    ],
  };
}

const uploadId = '00000000-0000-4000-8000-000000000000';

function uploads(): TableCases {
  const is = checksOf('uploads');
  const upload = {
    ...{ upload_id: uploadId, account_id: 'acct_a', name: 'a.csv', publication: 'uploads' },
    ...{ created_at: at, expires_at: at },
  };
  const arrived = { bytes: '0', sha256: hex('a') };
  return {
    table: 'embargo.uploads',
    row: upload,
    defaults: { published: [] },
    cases: [
      key('uploads_pkey', ['upload_id'], upload, {
        ...upload,
        upload_id: '00000000-0000-4000-8000-000000000001',
      }),
      ...is.text(64, 'account_id'),
      ...is.text(200, 'name'),
      ...is.text(80, 'publication'),
      ...is.check('bytes_check', [{ ...arrived, bytes: '-1' }], [arrived, { ...arrived, bytes: '1' }]),
      ...is.check(
        'sha256_check',
        ['', hex('g'), hex('A'), `${hex('a')}a`].map((sha256) => ({ ...arrived, sha256 })),
        [hex('0'), hex('f')].map((sha256) => ({ ...arrived, sha256 })),
      ),
      ...is.check(
        'tables_check',
        ['{}', '1', 'null', '""'].map((tables) => ({ ...arrived, tables })),
        [{ ...arrived, tables: '[]' }],
      ),
      ...is.check('arrived_check', [{ bytes: '1' }, { sha256: hex('a') }], [arrived, {}]),
      ...is.check('tables_present_check', [{ tables: '[]' }], [arrived, { ...arrived, tables: '[]' }]),
    ],
  };
}

function uploadPieces(): TableCases {
  const is = checksOf('upload_pieces');
  const other = uploadId.replace(/0$/, '1');
  const of = (id: string) =>
    `insert into embargo.uploads (upload_id, account_id, name, publication, created_at, expires_at)
     values ('${id}', 'acct_a', 'a.csv', 'uploads', now(), now())`;
  const piece = { upload_id: uploadId, position: '0', bytes: '\\x00' };
  const ofBytes = (count: number) => ({ bytes: `\\x${'00'.repeat(count)}` });
  return {
    table: 'embargo.upload_pieces',
    before: [of(uploadId), of(other)],
    row: piece,
    cases: [
      key('upload_pieces_pkey', ['upload_id', 'position'], piece, {
        ...{ upload_id: other, position: '1', bytes: '\\x01' },
      }),
      ...is.wholeFrom(0, 'position'),
      ...is.check('bytes_check', [ofBytes(0), ofBytes(1_048_577)], [ofBytes(1), ofBytes(1_048_576)]),
    ],
    references: [
      {
        constraint: 'upload_pieces_upload_id_fkey',
        refused: { upload_id: uploadId.replace(/0$/, '2') },
        deleteParent: 'delete from embargo.uploads',
        outcome: 'the row goes too',
      },
    ],
  };
}

/** Every table of schema embargo. */
export const embargoTables: readonly TableCases[] = [
  releases(),
  pieces(),
  history(),
  interruptions(),
  publishers(),
  sources(),
  uploads(),
  uploadPieces(),
];
