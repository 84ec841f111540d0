// The SMTP dialogue: how long answers are awaited, and which refusals are permanent.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { silentLog } from '../../test/services/harness.ts';
import { startScriptedSmtp, type Stage } from '../../test/services/scripted-smtp.ts';
import { testMail } from '../../test/services/sign-in.ts';
import { createMailer, MailRefused } from './send-mail.ts';

const mail = { to: 'someone@example.org', subject: 's', text: 't', html: '<p>t</p>' };

async function mailerOf(t: ExecutionContext, replyTo: (stage: Stage) => string | undefined) {
  const server = await startScriptedSmtp(replyTo);
  t.teardown(() => server.close());
  const mailer = createMailer({ ...testMail, smtpUrl: server.smtpUrl }, silentLog);
  t.teardown(() => mailer.close());
  return mailer;
}

const refusals: [Stage, string, 'for good' | 'for now'][] = [
  ['RCPT', '550 no such mailbox', 'for good'],
  ['RCPT', '550 5.1.1 no such mailbox', 'for good'],
  ['RCPT', '550-5.1.1 no such\r\n550 5.1.1 mailbox', 'for good'],
  ['RCPT', '553 5.1.3 no mailbox has this name', 'for good'],
  ['RCPT', '556 5.1.10 no mail here', 'for good'],
  ['DATA', '554 no valid recipients', 'for good'],
  ['.', '554 5.6.0 not this mail', 'for good'],
  ['RCPT', '450 4.2.1 later', 'for now'],
  ['RCPT', '552 5.2.2 the mailbox is full', 'for now'],
  ['RCPT', '554 5.7.1 relay access denied', 'for now'],
  ['RCPT', '503 bad sequence', 'for now'],
  ['.', '451 later', 'for now'],
  ['.', '550 5.7.1 a poor reputation', 'for now'],
  ['MAIL', '550 5.1.8 not from this sender', 'for now'],
];
for (const [stage, reply, lasts] of refusals) {
  const title = reply.replaceAll('\r\n', ' / ');
  test.serial(`an e-mail that is answered "${title}" at ${stage} is refused ${lasts}`, async (t) => {
    const mailer = await mailerOf(t, (at) => (at === stage ? reply : undefined));
    const error = await t.throwsAsync(mailer.send(mail));
    t.is(error instanceof MailRefused, lasts === 'for good');
    if (error instanceof MailRefused) t.true(error.reply.startsWith(reply.slice(0, 3)));
  });
}

test.serial('a server is reached by its IPv6 address', async (t) => {
  const mailer = createMailer({ ...testMail, smtpUrl: 'smtp://[::1]:1' }, silentLog);
  t.teardown(() => mailer.close());
  const error = await t.throwsAsync(mailer.send(mail));
  t.regex(error?.message ?? '', /connect E[A-Z]+ ::1:1/); // nothing listens there
});

test.serial('the name of the sender may have a comma, and quotes around it', async (t) => {
  const outboxDirectory = mkdtempSync(path.join(tmpdir(), 'almanac-mail-'));
  t.teardown(() => rmSync(outboxDirectory, { recursive: true }));
  for (const name of ['Statistics, Karachi', '"Statistics, Karachi"']) {
    const mailer = createMailer(
      { smtpUrl: undefined, from: `${name} <data@almanac.example>`, outboxDirectory },
      silentLog,
    );
    await mailer.send(mail);
  }
  const sent = readdirSync(outboxDirectory).map((file) =>
    readFileSync(path.join(outboxDirectory, file), 'utf8'),
  );
  t.is(sent.length, 2);
  for (const text of sent) t.regex(text, /^From: "Statistics, Karachi" <data@almanac\.example>$/m);
});

test.serial('the server has ten minutes to answer an e-mail', async (t) => {
  let connection: Socket | undefined;
  const onSocket = (message: unknown) => void ({ socket: connection } = message as { socket: Socket });
  subscribe('net.client.socket', onSocket);
  t.teardown(() => unsubscribe('net.client.socket', onSocket));
  let whileAnswered: number | undefined;
  const mailer = await mailerOf(t, (at) => {
    if (at === '.') whileAnswered = connection?.timeout;
    return undefined;
  });
  await mailer.send(mail);
  t.is(whileAnswered, 600_000);
});
