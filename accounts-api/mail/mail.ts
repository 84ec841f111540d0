// Sends mail by SMTP, or writes it to a folder if there is no SMTP server. Hides nodemailer.
import { randomUUID } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createTransport } from 'nodemailer';
import type { Log } from '../../kernel/log.ts';

export interface Mail {
  to: string;
  subject: string;
  text: string;
  html: string;
}

export interface MailSettings {
  /** `smtp://user:password@host:587` or `smtps://…`; undefined: mails are written to the folder. */
  smtpUrl: string | undefined;
  from: string;
  outboxDirectory: string;
}

export interface Mailer {
  /** @throws Error if the mail was not accepted; it may be sent again. */
  send(mail: Mail): Promise<void>;
  close(): void;
}

const timeouts = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 30_000 };
// Composing a mail never fetches a URL or reads a file, whatever its text contains.
const closed = { disableFileAccess: true, disableUrlAccess: true };

export function createMailer({ smtpUrl, from, outboxDirectory }: MailSettings, log: Log): Mailer {
  if (smtpUrl === undefined) return createOutbox(from, outboxDirectory, log);
  const transport = createTransport({ ...optionsOf(smtpUrl), ...timeouts, pool: true, maxConnections: 2 });
  return {
    async send(mail) {
      await transport.sendMail({ ...mail, from, ...closed });
    },
    close: () => transport.close(),
  };
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

/** Writes each mail to a file, atomically, for the operator to read. */
function createOutbox(from: string, directory: string, log: Log): Mailer {
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'unix' });
  return {
    async send(mail) {
      const { message } = await transport.sendMail({ ...mail, from, ...closed });
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const stamp = new Date().toISOString().replaceAll(/[:.]/g, '-');
      const file = path.join(directory, `${stamp}-${randomUUID().slice(0, 8)}.eml`);
      await writeFile(`${file}.part`, message as Buffer, { mode: 0o600 });
      await rename(`${file}.part`, file);
      log.warn({ file, subject: mail.subject }, 'no SMTP_URL: a mail was kept in the outbox');
    },
    close: () => undefined,
  };
}

function optionsOf(smtpUrl: string) {
  const url = new URL(smtpUrl);
  const secure = url.protocol === 'smtps:';
  const auth =
    url.username === ''
      ? {}
      : { auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) } };
  return { host: url.hostname, port: Number(url.port || (secure ? 465 : 587)), secure, ...auth };
}
