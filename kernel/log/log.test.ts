import { execFileSync } from 'node:child_process';
import test from 'ava';
import { createLog, lineWriter, withoutSecrets } from './log.ts';

test('a line of lineWriter equals the line that pino writes for the same message and fields', (t) => {
  const lines: string[] = [];
  const log = createLog('gateway', 'info', { write: (line) => void lines.push(line) });
  lineWriter(log, 'call "one"')(',"status":200');
  log.info({ status: 200 }, 'call "one"');
  const [own, pinos] = lines.map((line) => line.replace(/(?<="time":")[^"]*/, ''));
  t.is(own, pinos);
  t.regex(own ?? '', /^\{"level":30,"time":"","service":"gateway",.*\}\n$/);
});

test('no part of a secret in a path is logged, whatever signs it has, escaped or not', (t) => {
  for (const secret of [
    'pk_live_aB3',
    'sess_ab2.c-D_e',
    'whsec_QUJD/REVG+R0hJ=',
    'whsec_QUJD%2fREVG%2BR0hJ%3D',
  ])
    t.is(withoutSecrets(`/v1/webhooks/${secret}`), '/v1/webhooks/[redacted]', secret);
  t.is(withoutSecrets('/v1/account/key/clm_1'), '/v1/account/key/[redacted]');
  t.is(withoutSecrets('/v1/series/my_whsec'), '/v1/series/my_whsec');
});

test('external text begins no new line and changes no other field; the time is in UTC', (t) => {
  const lines: string[] = [];
  const log = createLog('gateway', 'info', { write: (line) => void lines.push(line) });
  const path = '/a\n{"level":50,"msg":"forged"}\r","status":500,"x":"\u2028';
  log.info({ path, status: 200 }, 'one\ntwo');
  t.is(lines.length, 1);
  t.regex(lines[0] ?? '', /^[^\r\n]+\n$/);
  const line = JSON.parse(lines[0] ?? '') as { time: string };
  t.like(line, { level: 30, msg: 'one\ntwo', path, status: 200 });
  t.regex(line.time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/);
});

test('lineWriter accepts only logs of createLog, as the destination of others is unknown', (t) => {
  t.throws(() => lineWriter(createLog('gateway', 'info').child({}), 'call'), {
    message: /not created by createLog/,
  });
});

test('standard output has all lines in order, short or long, in any script, also from a process that exits at once', (t) => {
  const lengths = [...Array.from({ length: 3_000 }, (_, i) => i % 97), 200_000, 3, 40_000, 30_000];
  const program = `
    const { createLog, standardOutput } = await import(${JSON.stringify(new URL('log.ts', import.meta.url))});
    const log = createLog('test', 'info', standardOutput());
    for (const length of ${JSON.stringify(lengths)}) log.info('€'.repeat(length));
    process.exit();`;
  const words = ['--input-type=module', '--eval', program];
  const output = execFileSync(process.execPath, words, { encoding: 'utf8', maxBuffer: 16 * 1024 * 1024 });
  const messages = output
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { msg: string }).msg);
  t.deepEqual(
    messages.map((message) => message.length),
    lengths,
  );
  t.true(messages.every((message) => /^€*$/.test(message)));
});
