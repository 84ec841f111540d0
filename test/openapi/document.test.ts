// The OpenAPI document: it matches the declarations of the services, a linter finds nothing in it, and docs and routes agree with it.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import test from 'ava';
import { loadRoutes } from '../../gateway/routes.ts';
import { eventKinds, eventTypes, type EventType } from '../../kernel/events/catalogue.ts';
import { projectRoot } from '../../kernel/project.ts';
import { policyAnswers } from '../../openapi/policies.ts';
import {
  declaredEndpoints,
  documentFile,
  pageOf,
  publishedDocument,
  textOf,
  writtenPages,
} from '../../openapi/published.ts';
import { tablesOf } from '../../openapi/tables.ts';

interface Message {
  schema: object;
  example: Record<string, unknown>;
}

const document = publishedDocument();
const written = readFileSync(documentFile, 'utf8');

test('the document matches the declarations of the services (npm run openapi writes it)', (t) => {
  t.true(written === textOf(document));
});

test('the docs match the code: parameter tables, events, keys of almanac.yml and recognised forms (npm run openapi writes them)', (t) => {
  for (const page of writtenPages) {
    const text = readFileSync(page, 'utf8');
    t.true(text === pageOf(text, document), path.relative(projectRoot, page));
  }
});

test('the docs list the parameters of every endpoint that has any', (t) => {
  const reported = new Set(writtenPages.flatMap((page) => tablesOf(readFileSync(page, 'utf8'))));
  const withParameters = declaredEndpoints().filter(
    ({ declaration }) => Object.keys(declaration.query.shape).length > 0,
  );
  for (const { method, path: at } of withParameters) {
    const name = `${method} ${at.replaceAll(/:(\w+)/g, '{$1}')}`;
    t.true(reported.has(name), name);
  }
  t.true(withParameters.length > 30);
});

test('a linter with the rules recommended by Redocly finds only that three endpoints just redirect', async (t) => {
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lintFromString({ source: written, absoluteRef: 'openapi.json', config });
  t.deepEqual(
    problems.map(({ ruleId, location }) => `${ruleId} ${location[0]?.pointer}`),
    // They send the browser on, and answer nothing else.
    ['v1~1unsubscribe', 'auth~1google~1start', 'auth~1google~1callback'].map(
      (at) => `operation-2xx-response #/paths/~1${at}/get/responses`,
    ),
  );
});

test('every parameter has a description or self-explanatory values, and every field has a type', (t) => {
  const { paths } = document as unknown as {
    paths: Record<
      string,
      Record<string, { parameters?: { name: string; description?: string; schema: { items?: object } }[] }>
    >;
  };
  for (const [at, operations] of Object.entries(paths)) {
    for (const { parameters = [] } of Object.values(operations)) {
      for (const { name, description, schema } of parameters) {
        t.true(description !== '' || 'enum' in schema || 'enum' in (schema.items ?? {}), `${at}: ${name}`);
      }
    }
  }
  t.notRegex(written, /"schema": \{\s*\}/, 'no schema is empty');
});

test('the document has every type of event, with a sample that matches its schema', (t) => {
  const { webhooks } = JSON.parse(written) as {
    webhooks: Record<EventType, { post: { requestBody: { content: { 'application/json': Message } } } }>;
  };
  t.deepEqual(Object.keys(webhooks), eventTypes);
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  for (const type of eventTypes) {
    const { schema, example } = webhooks[type].post.requestBody.content['application/json'];
    const { sample } = eventKinds[type];
    const validate = ajv.compile(schema);
    t.true(validate(example), `${type}: ${ajv.errorsText(validate.errors)}`);
    t.deepEqual(example, { type, timestamp: example['timestamp'], data: sample });
    for (const field of Object.keys(sample)) {
      const others = Object.fromEntries(Object.entries(sample).filter(([name]) => name !== field));
      t.false(validate({ ...example, data: others }), `${type} without ${field}`);
    }
  }
});

test('the document has every route of the gateway with every method that it accepts, except the pages of the dashboard', (t) => {
  const { pipelines } = loadRoutes(
    path.join(projectRoot, 'config/gateway.config.yml'),
    Object.keys(policyAnswers),
  );
  const declared = declaredEndpoints();
  const ofApi = pipelines.filter(({ steps }) => steps.every(({ policy }) => policy !== 'dashboard'));
  for (const { path: at, methods = [] } of ofApi.flatMap(({ routes }) => routes)) {
    if (at === '*') continue;
    for (const method of methods.filter((name) => name !== 'OPTIONS')) {
      t.true(
        declared.some((each) => each.path === at && each.method === method),
        `${method} ${at}`,
      );
    }
  }
});
