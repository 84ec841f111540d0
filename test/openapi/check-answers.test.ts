// The check of every fetched answer against the document: an answer that does not match fails the test that fetched it.
import test, { type ExecutionContext } from 'ava';
import { assertDocumented, type CheckedAnswer } from './check-answers.ts';

const row = {
  ...{ id: 'alpha', name: 'Alpha', short_name: null, licence_no: null, rating: null, website: null },
  ...{ established: null, funds_count: 2, aum_total: 5.5, aum_date: '2024-06-28', currency: 'PKR' },
  ...{ market_share_pct: null, as_of: null, source: 'Register', last_updated: '2024-06-30' },
};
const pagination = { next_cursor: null, count: 1 };

/** An answer with the companies, valid or with one thing wrong. */
function companies(data: object, more: Partial<CheckedAnswer> & { envelope?: object } = {}): CheckedAnswer {
  const { envelope, ...answer } = more;
  return {
    ...{ method: 'GET', target: '/v1/amcs', status: 200, headers: [['content-type', 'application/json']] },
    body: JSON.stringify({ success: true, data: [data], count: 1, pagination, ...envelope }),
    ...answer,
  };
}

const assertViolation = (t: ExecutionContext, answer: CheckedAnswer, message: RegExp) =>
  t.throws(() => assertDocumented(answer), { message });

test('an answer that matches the document passes, and so do rows narrowed by `fields=`', (t) => {
  t.notThrows(() => assertDocumented(companies(row)));
  t.notThrows(() => assertDocumented(companies({ id: 'alpha' }, { target: '/v1/amcs?fields=id' })));
});

test('an undeclared, missing or wrongly typed field of a row is found, in whole rows and in narrowed ones', (t) => {
  const { name: _, ...unnamed } = row;
  assertViolation(t, companies({ ...row, nick: 'A' }), /data\/0 must NOT have additional properties.*nick/);
  assertViolation(t, companies(unnamed), /data\/0 must have required property 'name'/);
  assertViolation(t, companies({ ...row, as_of: 'June' }), /as_of must match format "date"/);
  const target = '/v1/amcs?fields=id,name';
  assertViolation(t, companies({ id: 'alpha', nick: 'A' }, { target }), /additional properties.*nick/);
  assertViolation(t, companies({ id: 1 }, { target }), /data\/0\/id must be string/);
});

test('shared schemas of the document are checked in each answer', (t) => {
  assertViolation(
    t,
    companies(row, { envelope: { pagination: { ...pagination, pages: 9 } } }),
    /pagination must NOT/,
  );
  assertViolation(
    t,
    companies(row, { envelope: { pagination: { count: 1 } } }),
    /pagination must have.*next_cursor/,
  );
  const refusal = (error: object) =>
    companies(row, { status: 400, body: JSON.stringify({ success: false, error }) });
  const error = {
    code: 'invalid_parameter',
    message: 'No.',
    docs_url: '/docs/errors#invalid_parameter',
    request_id: 'a',
  };
  t.notThrows(() => assertDocumented(refusal({ ...error, param: 'limit' })));
  assertViolation(t, refusal({ ...error, code: 'no_such_code' }), /error\/code must be/);
});

test('an undeclared status, header, media type or operation is found', (t) => {
  const json = ['content-type', 'application/json'] as [string, string];
  assertViolation(t, companies(row, { status: 201 }), /a status that is not declared/);
  assertViolation(
    t,
    companies(row, { headers: [json, ['X-Secret', '1']] }),
    /a header that is not declared, x-secret/,
  );
  assertViolation(
    t,
    companies(row, { headers: [['content-type', 'text/html']] }),
    /the media type text\/html/,
  );
  assertViolation(t, companies(row, { method: 'DELETE' }), /there is no such operation/);
});
