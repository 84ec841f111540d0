// Writes the e-mail about changes of the data that an account follows.
import { counted } from '../../kernel/text/counted.ts';
import { htmlText } from '../../kernel/text/html.ts';
import type { Deps } from '../database.ts';
import type { MailJob } from '../jobs/jobs.ts';
import type { Mail } from '../mail/send-mail.ts';
import { linkTo, pages } from '../mail/mail-texts.ts';
import type { Account } from '../models/account.ts';
import type { Follow } from '../models/follow.ts';
import { selectChanges, type ChangedSeries } from './mail-changes.sql.ts';
import type { UnsubscribeTokens } from './unsubscribe-tokens.ts';

/** The most series, and the most follows, listed in an e-mail. */
const listedMax = 50;
const followsListedMax = 10;
/** The longest name in a subject, in characters; longer names are cut. */
const nameLengthMax = 120;

type MailDeps = Deps & { publicUrl: string; unsubscribeTokens: UnsubscribeTokens };

/** The e-mail of a job; null if its follows no longer exist, or the account is not sent e-mails about changes. */
export async function mailOfChanges(
  deps: MailDeps,
  job: MailJob & { mail: 'changes' },
): Promise<Mail | null> {
  const account = await deps.db.accounts.findByPk(job.accountId);
  if (account === null || !isMailed(account)) return null;
  const follows = await deps.db.follows.findAll({
    where: { accountId: account.id, id: job.follows.map(({ id }) => id) },
    order: ['createdAt', 'id'],
  });
  const ids = new Set(follows.map(({ id }) => id));
  const places = job.follows.filter(({ id }) => ids.has(id));
  if (places.length === 0) return null;
  const isOfSeries = follows.every(({ kind }) => kind === 'series');
  const changed = await selectChanges(deps.db, {
    ...{ follows: places, until: job.until, limit: listedMax },
    series: isOfSeries ? follows.map(({ subject }) => subject) : null,
  });
  return changed.length === 0 ? null : changesMail(deps, account, { changed, follows });
}

/** E-mails go only to a proved mailbox whose server has not refused e-mail. */
function isMailed(account: Account): boolean {
  const { status, emailSignsIn, emailVerifiedAt, mailRefusedAt } = account;
  return status === 'active' && emailSignsIn && emailVerifiedAt !== null && mailRefusedAt === null;
}

interface Line {
  text: string;
  link: string;
}

function changesMail(
  { publicUrl, unsubscribeTokens }: Omit<MailDeps, keyof Deps>,
  { id, email }: Account,
  { changed, follows }: { changed: readonly ChangedSeries[]; follows: readonly Follow[] },
): Mail {
  const [only] = changed;
  const total = only?.total ?? 0;
  const page = publicUrl + pages.following;
  const lines = changed.map((series) => lineOf(series, publicUrl));
  if (total > changed.length) lines.push({ text: `And ${total - changed.length} more.`, link: page });
  const stop = (ended: string) => linkTo(publicUrl, 'unsubscribe', ended);
  const listed = follows.length <= followsListedMax ? follows : [];
  const all = unsubscribeTokens.of(id as `acct_${string}`);
  const ends = [
    ...listed.map((follow) => ({
      text: `Stop following ${subjectOf(follow)}:`,
      link: stop(unsubscribeTokens.of(follow.id as `flw_${string}`)),
    })),
    { text: 'Stop all e-mails about what you follow:', link: stop(all) },
    { text: 'All that you follow:', link: page },
  ];
  const subject =
    total === 1 && only !== undefined
      ? `${cut(plain(only.name))}: ${whatChanged(only)}`
      : `${total} series changed`;
  return {
    ...{ to: email, subject, text: textOf(lines, ends), html: htmlOf(lines, ends) },
    headers: {
      'List-Unsubscribe': `<${publicUrl}/v1/unsubscribe?token=${all}>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    },
  };
}

function lineOf(series: ChangedSeries, publicUrl: string): Line {
  const { id, name, lastDate, frequency, isDeleted } = series;
  const newest = lastDate === null || isDeleted ? '' : `; newest period ${periodOf(lastDate, frequency)}`;
  return {
    text: `${plain(name)} (${id}): ${whatChanged(series)}${newest}`,
    link: `${publicUrl}/series/${encodeURIComponent(id)}`,
  };
}

/** `1 new value, 2 revised values` */
function whatChanged({ types, was, isDeleted, added, revised, removed }: ChangedSeries): string {
  if (isDeleted) return 'deleted';
  const parts = [
    ...(types.includes('series.restored') ? ['restored'] : []),
    ...(was === null ? [] : [`renamed from ${was}`]),
    ...(added === 0 ? [] : [counted(added, 'new value')]),
    ...(revised === 0 ? [] : [counted(revised, 'revised value')]),
    ...(removed === 0 ? [] : [counted(removed, 'deleted value')]),
  ];
  return parts.length === 0 ? 'earlier vintages changed' : parts.join(', ');
}

function subjectOf({ kind, subject }: Follow): string {
  if (kind === 'series') return `the series ${plain(subject)}`;
  return kind === 'source' ? `the source ${plain(subject)}` : `the search "${plain(subject)}"`;
}

/** The period of a last date: `2026-10`, `2026-Q3`, `2026-H1`, `2026` or the day. */
function periodOf(date: string, frequency: string): string {
  const [year, month] = [date.slice(0, 4), Number(date.slice(5, 7))];
  if (frequency === 'monthly') return date.slice(0, 7);
  if (frequency === 'quarterly') return `${year}-Q${Math.ceil(month / 3)}`;
  if (frequency === 'semiannual') return `${year}-H${Math.ceil(month / 6)}`;
  return frequency === 'annual' ? year : date;
}

/** Joins a text into one line, so that a publisher's text cannot add lines to an e-mail. */
const plain = (text: string) => text.replaceAll(/[\s\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
const cut = (text: string) => (text.length > nameLengthMax ? `${text.slice(0, nameLengthMax - 1)}…` : text);

function textOf(lines: readonly Line[], ends: readonly Line[]): string {
  const shown = (each: readonly Line[]) => each.map(({ text, link }) => `${text}\n${link}\n`).join('\n');
  return `${shown(lines)}\n--\n${shown(ends)}`;
}

function htmlOf(lines: readonly Line[], ends: readonly Line[]): string {
  const item = ({ text, link }: Line) => `<li><a href="${htmlText(link)}">${htmlText(text)}</a></li>`;
  const end = ({ text, link }: Line) =>
    `<p><a href="${htmlText(link)}">${htmlText(text.replace(/:$/, ''))}</a></p>`;
  return `<ul>\n${lines.map(item).join('\n')}\n</ul>\n<hr>\n${ends.map(end).join('\n')}\n`;
}
