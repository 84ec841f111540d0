// No HTTP test is silently left out of the run as in production.
import { globSync } from 'node:fs';
import test from 'ava';
import { projectRoot } from '../../kernel/project.ts';
import { httpTests, leftOut, testsAsInProduction, textOf } from './http-tests.ts';

const calls =
  /\b(?:startServices|start(?:Accounts|Data|List|Series)Service|startPaying|createInstallation|startTestGateway)\(/;

test('every test file that starts services runs as in production, or a list gives the reason why not', (t) => {
  const out = leftOut.flatMap(({ files }) => files);
  const known = [...testsAsInProduction(), ...out];
  const files = globSync('test/**/*.test.ts', { cwd: projectRoot });
  const callers = files.filter((file) => calls.test(textOf(file)));
  t.true(callers.length > 100);
  t.deepEqual(
    callers.filter((file) => !known.includes(file)),
    [],
  );
  t.deepEqual(
    files.filter((file) => /^test\/(?:v1|auth)\//.test(file) && !known.includes(file)),
    [],
  );
});

test('each file that is left out exists, is an HTTP test, is named once, and has a reason', (t) => {
  const out = leftOut.flatMap(({ files }) => files);
  t.deepEqual(
    out.filter((file) => !httpTests().includes(file)),
    [],
  );
  t.is(new Set(out).size, out.length);
  for (const { reason } of leftOut) t.regex(reason, /\w{3}/);
});
