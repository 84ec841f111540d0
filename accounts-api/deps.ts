// The dependencies of the handlers besides the database, built by main.ts.
import type { Cursors } from '../kernel/http/cursor.ts';
import type { Log } from '../kernel/log/log.ts';
import type { Billing } from './billing/connection.ts';
import type { Deps } from './database.ts';
import type { UnsubscribeTokens } from './follows/unsubscribe-tokens.ts';
import type { Jobs } from './jobs/jobs.ts';
import type { GoogleSettings, OpenId } from './auth/google-openid.ts';
import type { Passwords } from './auth/passwords.ts';
import type { Throttle } from './auth/throttle.ts';
import type { Secrets } from './secrets.ts';
import type { WebhookTools } from './webhooks/webhook-tools.ts';

export interface SignInSettings {
  /** The public URL, the base of links in e-mails and of Google's redirect URI, without a final slash. */
  publicUrl: string;
  /** Whether e-mails leave the machine. If so, an e-mail address must be verified before its account is created. */
  mailGoesOut: boolean;
  passwordLengthMin: number;
  /** Whether operator endpoints refuse operators without a second factor. */
  operatorSecondFactor: 'optional' | 'required';
  /** Undefined: no sign-in with Google. */
  google: GoogleSettings | undefined;
}

export interface ServiceDeps extends Deps {
  readonly jobs: Jobs;
  readonly passwords: Passwords;
  readonly throttle: Throttle;
  /** Sign-in with Google; null if not configured. */
  readonly openId: OpenId | null;
  /** The connection to Stripe; null if not configured. */
  readonly billing: Billing | null;
  /** Derives the token of a checkout's return page from its id. */
  readonly claimTokenOf: (checkoutId: string) => string;
  readonly settings: Omit<SignInSettings, 'google'>;
  readonly cursors: Cursors;
  readonly webhooks: WebhookTools;
  readonly unsubscribeTokens: UnsubscribeTokens;
  /** Encrypts the secrets of authenticator apps, with the key for those of webhooks. */
  readonly secrets: Secrets;
  readonly log: Log;
}
