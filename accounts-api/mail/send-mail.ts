// Sends mail by SMTP, or writes it to a folder if there is no SMTP server.
import { randomUUID } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createTransport } from 'nodemailer';
import type { Log } from '../../kernel/log/log.ts';

export interface Mail {
  to: string;
  subject: string;
  text: string;
  html: string;
  /** More headers than those that every e-mail has. */
  headers?: Readonly<Record<string, string>>;
}

export interface MailSettings {
  /** `smtp://user:password@host:587` or `smtps://…`; undefined: e-mails are written to the folder. */
  smtpUrl: string | undefined;
  from: string;
  outboxDirectory: string;
}

export interface Mailer {
  /** @throws MailRefused if the e-mail was refused for good, or another Error if sending may be retried. */
  send(mail: Mail): Promise<void>;
  close(): void;
}

/** The server refuses the mailbox or the e-mail permanently. */
export class MailRefused extends Error {
  /** The server's reply. */
  readonly reply: string;

  constructor(reply: string, cause: unknown) {
    super(`The mail server refused an e-mail for good: ${reply}`, { cause });
    this.reply = reply;
  }
}

const maxConnections = 5;
// A server may take ten minutes to answer an e-mail after its final dot (RFC 5321, 4.5.3.2.6), and half of that to answer a command. A client that waits
// less sends an accepted mail again.
const timeouts = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 10 * 60_000 };
// No such mailbox (550, 551, 553), the domain accepts no e-mail (556), refused (554). Other codes concern the session or may be temporary, as 552: the
// mailbox is full.
const refusals = new Set([550, 551, 553, 554, 556]);
// Composing an e-mail never fetches a URL or reads a file, whatever its text contains.
const closed = { disableFileAccess: true, disableUrlAccess: true };

export function createMailer({ smtpUrl, from, outboxDirectory }: MailSettings, log: Log): Mailer {
  if (smtpUrl === undefined) return createOutbox(from, outboxDirectory, log);
  const transport = createTransport({ ...optionsOf(smtpUrl), ...timeouts, pool: true, maxConnections });
  return {
    async send(mail) {
      try {
        await transport.sendMail({ ...mail, from: senderOf(from), ...closed });
      } catch (error) {
        throw refusalOf(error) ?? error;
      }
    },
    close: () => transport.close(),
  };
}

/**
 * The refusal of the recipient or of the e-mail, if the error is permanent. A refusal by policy (5.7.x) is not: the server refuses this sender, for its
 * settings or its reputation, and would refuse every e-mail.
 */
function refusalOf(error: unknown): MailRefused | null {
  const { command, responseCode, response } = error as Partial<Record<'command' | 'response', string>> & {
    responseCode?: number;
  };
  if (command !== 'RCPT TO' && command !== 'DATA') return null;
  if (responseCode === undefined || response === undefined || !refusals.has(responseCode)) return null;
  return /^\d{3}[ -]5\.7\./.test(response) ? null : new MailRefused(response, error);
}

/** Connects to the server and signs in, without sending mail. @throws Error if that fails. */
export async function checkSmtp(smtpUrl: string): Promise<void> {
  const transport = createTransport({ ...optionsOf(smtpUrl), ...timeouts });
  try {
    await transport.verify();
  } finally {
    transport.close();
  }
}

/** Writes each e-mail to a file, atomically, for the operator to read. */
function createOutbox(from: string, directory: string, log: Log): Mailer {
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'unix' });
  return {
    async send(mail) {
      const { message } = await transport.sendMail({ ...mail, from: senderOf(from), ...closed });
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const stamp = new Date().toISOString().replaceAll(/[:.]/g, '-');
      const file = path.join(directory, `${stamp}-${randomUUID().slice(0, 8)}.eml`);
      await writeFile(`${file}.part`, message as Buffer, { mode: 0o600 });
      await rename(`${file}.part`, file);
      log.warn({ file, subject: mail.subject }, 'no SMTP_URL: an e-mail was written to the outbox');
    },
    close: () => undefined,
  };
}

/** Name and address of MAIL_FROM, separately: within one text, a comma in the name would begin another address. */
function senderOf(from: string): { name: string; address: string } {
  const [, name = '', address = from] = /^(.*)<(.*)>$/.exec(from) ?? [];
  return { name: name.trim().replace(/^"(.*)"$/, '$1'), address };
}

function optionsOf(smtpUrl: string) {
  const url = new URL(smtpUrl);
  const secure = url.protocol === 'smtps:';
  const auth =
    url.username === ''
      ? {}
      : { auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) } };
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1'); // an IPv6 address
  return { host, port: Number(url.port || (secure ? 465 : 587)), secure, ...auth };
}
