// The reference that the dashboard makes of the OpenAPI document.
import { readFileSync } from 'node:fs';
import test from 'ava';
import { anchorOf, readDocument } from '../../dashboard/pages/docs/openapi-document.ts';
import { documentFile } from '../../openapi/published.ts';
import { errorTable } from '../../kernel/errors.ts';

const document = JSON.parse(readFileSync(documentFile, 'utf8')) as { paths: Record<string, object> };
const { tags } = readDocument(document);
const operations = tags.flatMap((tag) => tag.operations);
const found = (id: string) => operations.find((each) => each.id === id);

test('every operation of the document is in it once, under an anchor of its own', (t) => {
  const declared = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => anchorOf(method, path)),
  );
  t.deepEqual(operations.map(({ id }) => id).sort(), declared.sort());
  t.is(new Set(declared).size, declared.length);
});

test('an operation has its parameters, its credentials, the fields of its answer and its errors', (t) => {
  const series = found('get-v1-series-id');
  t.deepEqual(series?.credentials, ['ApiKey', 'Bearer', 'Basic', 'ApiKeyParameter']);
  t.like(series?.parameters[0], { name: 'id', place: 'path', isRequired: true });
  t.like(
    series?.parameters.find(({ name }) => name === 'frequency'),
    { type: 'one of weekly, monthly, quarterly, semiannual, annual', isRequired: false },
  );
  const fields = series?.answers[0]?.fields ?? [];
  t.like(
    fields.find(({ name }) => name === 'unit'),
    { type: 'string or null', depth: 1 },
  );
  t.true(fields.some(({ name, depth }) => name === 'value' && depth === 1));
  t.true(series?.errors.some(({ code, status }) => code === 'unknown_dimension' && status === '400'));
  t.deepEqual(found('get-v1-catalog')?.credentials, []);
  t.like(found('post-v1-keys')?.body[0], { name: 'name', type: 'string', isRequired: true });
});

test('every error of every operation is a code of the table, and every operation that fails says how', (t) => {
  const codes = new Set(operations.flatMap(({ errors }) => errors.map(({ code }) => code)));
  for (const code of codes) t.true(Object.hasOwn(errorTable, code), code);
  t.true(codes.size > 25);
  const without = operations.filter(({ errors }) => errors.length === 0).map(({ id }) => id);
  t.deepEqual(without, []);
});

test('no type is left empty', (t) => {
  for (const { id, parameters, body, answers } of operations)
    for (const { name, type } of [...parameters, ...body, ...answers.flatMap(({ fields }) => fields)])
      t.regex(type, /\S/, `${id}: ${name}`);
});
