// Shared by the tests of sign-in: settings, a mailbox behind a real SMTP server, valid passwords.
import { randomBytes, randomInt } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';
import type { SignInSettings } from '../../accounts-api/deps.ts';
import type { MailSettings } from '../../accounts-api/mail/send-mail.ts';
import type { HashCost } from '../../accounts-api/auth/passwords.ts';
import { recordSecret } from '../run/traces.ts';
import { within } from '../run/until.ts';

export const testSignIn: SignInSettings = {
  publicUrl: 'https://almanac.example',
  mailGoesOut: false,
  passwordLengthMin: 8,
  operatorSecondFactor: 'optional',
  google: undefined,
};

/** The hash cost of test passwords: a hash takes a fraction of a millisecond instead of 50. */
export const testPasswordCost: HashCost = { memoryCost: 64, timeCost: 1, parallelism: 1 };

export const testMail: MailSettings = {
  smtpUrl: undefined,
  from: 'Almanac <almanac@almanac.example>',
  outboxDirectory: path.join(tmpdir(), 'outbox'), // the run removes it
};

/** A good password that no other test uses. */
export function newPassword(): string {
  return recordSecret(`test-${randomBytes(9).toString('base64url')}`);
}

/** An e-mail address that no other test uses, as attempts at it may be counted in a shared Redis. */
export function newEmail(): string {
  return `holder-${randomBytes(6).toString('hex')}@example.org`;
}

/** IP addresses that the throttles count as one client: they share a /64 that no other test uses. */
export function newNetwork(): () => string {
  const group = () => randomInt(1, 0x10000).toString(16);
  const network = `2001:db8:${group()}:${group()}`;
  let hosts = 0;
  return () => `${network}::${(hosts += 1).toString(16)}`;
}

/** An IP address that the throttles count as a separate client. */
export const newIp = () => newNetwork()();

/** The headers of a call from such an address, for services that trust a proxy. */
export const from = () => ({ 'x-forwarded-for': newIp() });

export interface ReceivedMail {
  to: string;
  from: string;
  subject: string;
  /** The plain text, decoded. */
  text: string;
  /** The whole mail as received. */
  raw: string;
}

export interface Mailbox {
  smtpUrl: string;
  received: ReceivedMail[];
  /** Waits for the next unread mail to an e-mail address. @param subject a part of the subject. */
  next(to: string, subject?: string): Promise<ReceivedMail>;
  /** Refuses e-mails temporarily, or accepts them again. */
  refuse(refuses: boolean): void;
  /** Resolves when the next e-mail has been refused. */
  refused(): Promise<void>;
  /** From now on, e-mails are received but not answered. Resolves when the first one has arrived. */
  stall(): Promise<void>;
  /** Answers e-mails again; unanswered ones are dropped. */
  resume(): void;
  close(): Promise<void>;
}

/** A real SMTP server on a free port that stores the received e-mails. */
export async function startMailbox(): Promise<Mailbox> {
  const received: ReceivedMail[] = [];
  const waiting: ReceivedMail[] = [];
  const arrivals = new EventEmitter();
  arrivals.setMaxListeners(0);
  let [refuses, isStalled] = [false, false];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    logger: false,
    async onData(stream, session, done) {
      const raw = await text(stream);
      if (isStalled) {
        arrivals.emit('held');
      } else if (refuses) {
        done(new Error('451 try again'));
        arrivals.emit('refused');
      } else {
        const mail = readMail(raw, session.envelope.rcptTo[0]?.address ?? '');
        received.push(mail);
        waiting.push(mail);
        done();
        arrivals.emit('mail');
      }
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  return {
    smtpUrl: `smtp://127.0.0.1:${port}`,
    received,
    async next(to, subject = '') {
      for (;;) {
        const isFor = (mail: ReceivedMail) => mail.to.toLowerCase() === to.toLowerCase();
        const at = waiting.findIndex((mail) => isFor(mail) && mail.subject.includes(subject));
        const [mail] = at < 0 ? [] : waiting.splice(at, 1);
        if (mail !== undefined) return mail;
        await within(`an e-mail "${subject}" to ${to} comes`, once(arrivals, 'mail'));
      }
    },
    refuse: (now) => void (refuses = now),
    async refused() {
      await within('an e-mail is refused', once(arrivals, 'refused'));
    },
    async stall() {
      isStalled = true;
      await within('an e-mail is held', once(arrivals, 'held'));
    },
    resume: () => void (isStalled = false),
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

/** The token of the link in an e-mail. */
export function tokenIn(mail: ReceivedMail): string {
  const token = /#token=([A-Za-z0-9_-]{43})(?![A-Za-z0-9_-])/.exec(mail.text)?.[1];
  if (token === undefined) throw new Error(`There is no link in: ${mail.text}`);
  return recordSecret(token);
}

/** Reads an e-mail of two parts, text and HTML. */
export function readMail(raw: string, to: string): ReceivedMail {
  const lines = raw.replaceAll('\r\n', '\n');
  const header = (name: string) => new RegExp(`^${name}: (.*)$`, 'im').exec(lines)?.[1] ?? '';
  const boundary = /boundary="([^"]+)"/i.exec(lines)?.[1] ?? '';
  const head = /Content-Type: text\/plain[^\n]*\n(?:[^\n]+\n)*\n/i.exec(lines);
  const encoding = /Content-Transfer-Encoding: (\S+)/i.exec(head?.[0] ?? '')?.[1] ?? '7bit';
  const from = head === null ? lines.length : head.index + head[0].length;
  const body = lines.slice(from, lines.indexOf(`\n--${boundary}`, from)); // a line of a token may begin with -- too
  const plain =
    encoding.toLowerCase() === 'quoted-printable'
      ? body
          .replaceAll('=\n', '')
          .replaceAll(/(?:=[0-9A-F]{2})+/g, (bytes) =>
            Buffer.from(bytes.replaceAll('=', ''), 'hex').toString(),
          )
      : body;
  return { to, from: header('From'), subject: header('Subject'), text: plain, raw };
}
