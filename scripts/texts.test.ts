import test from 'ava';
import { textsOf } from './texts.ts';

test('messages, e-mails, log lines and texts of pages are found with their lines; SQL, CSS classes and imports are not', (t) => {
  t.timeout(300_000);
  const texts = textsOf([
    'accounts-api/mail/mail-texts.ts',
    'accounts-api/operator/operator.sql.ts',
    'dashboard/pages/account/overview/overview.tsx',
    'gateway/heartbeat',
    'kernel/bodies/service-bodies.ts',
  ]);
  const filesOf = (wanted: string) => texts.filter(({ text }) => text === wanted).map(({ file }) => file);
  t.deepEqual(filesOf('The body must be at most ${…} KB.'), ['kernel/bodies/service-bodies.ts']);
  t.deepEqual(filesOf('New recovery codes were created'), ['accounts-api/mail/mail-texts.ts']);
  t.deepEqual(
    filesOf(
      'The lease was not renewed for too long: the gateway discards its cached keys and unused calls, and registers at accounts-api under a new id',
    ),
    ['gateway/heartbeat/heartbeat.ts'],
  );
  t.deepEqual(filesOf('The count resets on'), ['dashboard/pages/account/overview/overview.tsx']);
  t.deepEqual(
    texts.filter(({ file, text }) => /\.(?:sql|test)\./.test(file) || /^(?:from|select|\.)/.test(text)),
    [],
  );
  for (const { file, line, text } of texts) t.true(line > 0 && !text.includes('\n'), `${file}:${line}`);
});
