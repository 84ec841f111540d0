// The publisher behind /v1/operator: who is served, and the answer of a gateway without a publisher.
import test from 'ava';
import { endpoints } from '../../../ingest/operator/routes.ts';
import { anonymous, createSealer, identityHeader, type Identity } from '../../../kernel/identity.ts';
import { codeOf } from '../../auth/people.ts';
import { exempt } from '../../openapi/check-answers.ts';
import { testIdentitySecret } from '../../services/harness.ts';
import { startServices } from '../../services/services.ts';
import { messageOf, newOperator } from './operating.ts';

const targets = endpoints.map(([method, path]) => ({ method, target: path.replaceAll(/:\w+/g, '1') }));

test('the publisher refuses everyone but operators, even if a gateway lets them through', async (t) => {
  const services = await startServices({ publisher: true });
  t.teardown(() => services.close());
  const url = services.publisherUrl ?? '';
  exempt(url); // the document describes the answers of the gateway
  const seal = createSealer(testIdentitySecret, 'publisher');
  const ofOtherService = createSealer(testIdentitySecret, 'accounts-api');
  const operator: Identity = { ...anonymous, accountId: 'acct_a', sessionId: 'sess_a', operator: true };
  const ask = async (method: string, target: string, token?: string) =>
    (await fetch(url + target, { method, headers: token === undefined ? {} : { [identityHeader]: token } }))
      .status;
  for (const { method, target } of targets) {
    const where = `${method} ${target}`;
    t.is(await ask(method, target), 401, where);
    t.is(await ask(method, target, ofOtherService(operator, method, target)), 503, where);
    for (const other of [
      { ...operator, operator: false },
      { ...operator, sessionId: null, keyId: 'key_a' },
      { ...operator, accountId: null },
      { ...operator, scope: 'internal' as const },
    ])
      t.is(await ask(method, target, seal(other, method, target)), 404, where);
  }
  t.is(await ask('GET', '/v1/operator/loads', seal(operator, 'GET', '/v1/operator/loads')), 200);
});

test('a gateway without PUBLISHER_URL states that to an operator', async (t) => {
  const services = await startServices();
  t.teardown(() => services.close());
  const operator = await newOperator(services);
  const answer = await operator.get('/loads');
  t.is(codeOf(answer), 'not_found');
  t.regex(messageOf(answer), /the gateway has no PUBLISHER_URL/);
  t.is((await operator.get('/plans')).status, 200);
});
