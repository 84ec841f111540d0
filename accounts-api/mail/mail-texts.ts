// The texts of the e-mails, as plain text and HTML. Links have their token after `#`, which browsers send to no server.
import { nextUtcMonth } from '../../kernel/clock.ts';
import type { Notice } from '../jobs/jobs.ts';
import type { Mail } from './send-mail.ts';
import { counted } from '../../kernel/text/counted.ts';
import { htmlText } from '../../kernel/text/html.ts';

/** The dashboard pages that mailed links open; each uses its token in a POST when its button is pressed. */
export const pages = {
  verifyEmail: '/dashboard/verify-email',
  setPassword: '/dashboard/set-password',
  keys: '/dashboard/keys',
  usage: '/dashboard/usage',
  webhooks: '/dashboard/webhooks',
  billing: '/dashboard/billing',
  following: '/dashboard/following',
  unsubscribe: '/dashboard/unsubscribe',
} as const;

interface Text {
  subject: string;
  paragraphs: readonly string[];
  link?: string;
}

/** The link of an e-mail. @param publicUrl from the settings, never from a request. */
export function linkTo(publicUrl: string, page: keyof typeof pages, token: string): string {
  return `${publicUrl}${pages[page]}#token=${token}`;
}

export function signUpMail(to: string, link: string): Mail {
  return mail(to, {
    subject: 'Confirm your e-mail address',
    paragraphs: [
      'Someone, hopefully you, signed up with this e-mail address.',
      'Open this link within 24 hours and enter the password you chose: this creates the account.',
      'If it was not you, do nothing: no account is created unless the link is opened.',
    ],
    link,
  });
}

/** @param link sets a new password. */
export function accountExistsMail(to: string, link: string): Mail {
  return mail(to, {
    subject: 'You have an account already',
    paragraphs: [
      'Somebody asked for an account with this e-mail address, which already has one. Nothing has changed.',
      'If it was you, sign in with your password. If you forgot it, open this link within one hour to set a new one.',
    ],
    link,
  });
}

export function verifyEmailMail(to: string, link: string): Mail {
  return mail(to, {
    subject: 'Confirm your e-mail address',
    paragraphs: ['Open this link within 24 hours to confirm that this e-mail address is yours.'],
    link,
  });
}

export function resetPasswordMail(to: string, link: string): Mail {
  return mail(to, {
    subject: 'Set a new password',
    paragraphs: [
      'Someone, hopefully you, asked for a new password for your account.',
      'Open this link within one hour to set it. If it was not you, do nothing: your password stays as it is.',
    ],
    link,
  });
}

/** To the owner of the mailbox that a payer entered. @param link sets a password, which proves the mailbox. */
export function purchaseMail(to: string, plan: string, link: string): Mail {
  return mail(to, {
    subject: `${plan} was bought with your e-mail address`,
    paragraphs: [
      `Someone, hopefully you, bought the plan ${plan} with this e-mail address, without signing in.`,
      'To use it, open this link within one hour and set a password. This proves that the mailbox is yours, and you can then sign in. Earlier API keys of the purchase stop working, as someone else may have created them. After the hour, "Forgot your password?" e-mails another link.',
      'If it was not you, do nothing: nobody can sign in with your e-mail address.',
    ],
    link,
  });
}

/** The same for a mailbox that has an account. */
export function purchaseOfferedMail(to: string, plan: string, publicUrl: string): Mail {
  return mail(to, {
    subject: `${plan} was bought with your e-mail address`,
    paragraphs: [
      `Someone, hopefully you, bought the plan ${plan} with this e-mail address, without signing in. Your account has not changed.`,
      'If it was you, sign in: the Billing page offers to move the purchase into your account. Your e-mail address must be confirmed first.',
      'If it was not you, do nothing.',
    ],
    link: publicUrl + pages.billing,
  });
}

export function changeEmailMail(to: string, link: string): Mail {
  return mail(to, {
    subject: 'Confirm your new e-mail address',
    paragraphs: [
      'Open this link within 24 hours and enter your password: this then becomes the e-mail address of your account.',
      'If you did not ask for this, do nothing: nobody can use this link without the password.',
    ],
    link,
  });
}

/** @param expiresAt ISO instant. */
export function keyExpiresMail(
  to: string,
  key: { name: string; mask: string; expiresAt: string },
  publicUrl: string,
): Mail {
  return mail(to, {
    subject: 'An API key expires soon',
    paragraphs: [
      `The API key "${key.name}" (${key.mask}) stops working on ${dayAndTime(key.expiresAt)}.`,
      'If something still uses it: create a new key, replace this one with it, then revoke this one. You can create and revoke keys here.',
    ],
    link: publicUrl + pages.keys,
  });
}

/** @param month `YYYY-MM-01`. @param limit calls a month. */
export function usageMail(
  to: string,
  { month, limit, percent }: { month: string; limit: number; percent: number },
  publicUrl: string,
): Mail {
  const resetsAt = nextUtcMonth(new Date(month)).toISOString();
  const rest =
    percent === 100
      ? `Until ${dayAndTime(resetsAt)} further calls are refused with status 402, unless you choose a higher plan.`
      : `The count resets on ${dayAndTime(resetsAt)}.`;
  return mail(to, {
    subject: `${percent} % of this month's calls are used`,
    paragraphs: [`Your account has used ${percent} % of its ${limit} calls of ${month.slice(0, 7)}. ${rest}`],
    link: publicUrl + pages.usage,
  });
}

/** @param host the origin of its URL; the rest may contain a secret. */
export function webhookDisabledMail(
  to: string,
  { host, description, because }: { host: string; description: string | null; because: string },
  publicUrl: string,
): Mail {
  const name = description === null ? host : `${host} (${description})`;
  const why =
    because === 'gone'
      ? 'It answered 410, which asks us to stop sending events.'
      : 'Every attempt of the last five days failed.';
  return mail(to, {
    subject: 'A webhook was disabled',
    paragraphs: [
      `Events are no longer sent to the webhook ${name}. ${why}`,
      'Once it works again, enable it. You can then resend the failed deliveries of the last 30 days.',
    ],
    link: publicUrl + pages.webhooks,
  });
}

/** @param failure instants are ISO. */
export function sourceFailedMail(
  to: string,
  failure: { source: string; reason: string; failures: number; failingSince: string; nextFetchAt: string },
): Mail {
  const { source, reason, failures, failingSince, nextFetchAt } = failure;
  return mail(to, {
    subject: `The source ${source} is failing`,
    paragraphs: [
      `The source ${source} could not be fetched or loaded ${counted(failures, 'time')} in a row, since ${dayAndTime(failingSince)}. The last reason:`,
      reason,
      `Its series are unchanged. The next attempt is on ${dayAndTime(nextFetchAt)}. You get no further e-mail about this source until it has worked again.`,
      `"almanac sources show ${source}" has the report. You get this e-mail because your account is an operator's.`,
    ],
  });
}

const notices: Record<Notice, { subject: string; happened: string }> = {
  password_changed: {
    subject: 'Your password was changed',
    happened: 'The password of your account was changed',
  },
  email_change_asked: {
    subject: 'A new e-mail address was requested',
    happened:
      'A new e-mail address was requested for your account. It replaces this one once it is confirmed. The request was made',
  },
  email_changed: {
    subject: 'Your e-mail address was changed',
    happened: 'Your account has a new e-mail address, and this one is no longer used. The change was made',
  },
  google_linked: { subject: 'Google was linked', happened: 'Sign-in with Google was added to your account' },
  google_unlinked: {
    subject: 'Google was unlinked',
    happened: 'Sign-in with Google was removed from your account',
  },
  totp_enrolled: {
    subject: 'Two-factor sign-in was turned on',
    happened: 'Two-factor sign-in was turned on for your account',
  },
  totp_removed: {
    subject: 'Two-factor sign-in was turned off',
    happened: 'Two-factor sign-in was turned off for your account',
  },
  recovery_codes_made: {
    subject: 'New recovery codes were created',
    happened: 'The recovery codes of your account were replaced by new ones',
  },
  recovery_code_used: {
    subject: 'A recovery code was used',
    happened: 'A recovery code of your account was used instead of a code of the authenticator app',
  },
  passkey_added: {
    subject: 'A passkey was added',
    happened: 'A passkey, which signs in without the password, was added to your account',
  },
  passkey_removed: { subject: 'A passkey was removed', happened: 'A passkey of your account was removed' },
  account_closed: {
    subject: 'Your account was closed',
    happened: 'Your account, its keys and its sessions were deleted',
  },
};

/** @param at ISO instant. */
export function noticeMail(to: string, notice: Notice, at: string): Mail {
  const { subject, happened } = notices[notice];
  return mail(to, {
    subject,
    paragraphs: [
      `${happened} on ${dayAndTime(at)}.`,
      'If it was not you, contact the operator of this service at once.',
    ],
  });
}

function dayAndTime(instant: string): string {
  return `${instant.slice(0, 10)} at ${instant.slice(11, 16)} UTC`;
}

function mail(to: string, { subject, paragraphs, link }: Text): Mail {
  const text = [...paragraphs, ...(link === undefined ? [] : [link])].join('\n\n');
  const button = link === undefined ? '' : `<p><a href="${htmlText(link)}">${htmlText(link)}</a></p>`;
  const html = `${paragraphs.map((paragraph) => `<p>${htmlText(paragraph)}</p>`).join('\n')}\n${button}`;
  return { to, subject, text: `${text}\n`, html };
}
