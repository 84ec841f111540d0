// Users who sign up and in through the gateway, for the tests under /auth.
import type { Services } from '../services/services.ts';
import { recordSecret } from '../run/traces.ts';
import { from, newEmail, newPassword, tokenIn, type Mailbox } from '../services/sign-in.ts';

export type Answer = Awaited<ReturnType<Services['call']>>;

export interface Person {
  email: string;
  password: string;
  session: string;
}

/** Shared steps of the tests of sign-in. @param mailbox if the services send mail. */
export function peopleOf(services: Pick<Services, 'call'>, mailbox?: Mailbox) {
  const ask = (
    method: string,
    target: string,
    { body, session, headers }: { body?: unknown; session?: string; headers?: Record<string, string> } = {},
  ): Promise<Answer> =>
    services.call(target, {
      method,
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(session === undefined ? {} : { 'x-session-token': session }),
        ...headers,
      },
    });

  async function logIn(email: string, password: string): Promise<string> {
    return sessionIn(await ask('POST', '/auth/login', { body: { email, password } }));
  }

  return {
    ask,
    post: (target: string, body: unknown, session?: string) =>
      ask('POST', target, { body, ...(session === undefined ? {} : { session }) }),
    get: (target: string, session?: string) =>
      ask('GET', target, { ...(session === undefined ? {} : { session }) }),
    logIn,
    /** Signs up, confirms the mailed link if mail is sent, and is signed in. */
    async newPerson(): Promise<Person> {
      const [email, password] = [newEmail(), newPassword()];
      const answer = await ask('POST', '/auth/signup', { body: { email, password }, headers: from() });
      if (mailbox === undefined) return { email, password, session: sessionIn(answer) };
      const token = tokenIn(await mailbox.next(email));
      const body = { token, password };
      const verified = await ask('POST', '/auth/verify-email', { body, headers: from() });
      return { email, password, session: sessionIn(verified) };
    },
  };
}

/** The `data` of an answer. */
export function dataIn(answer: Answer): Record<string, unknown> {
  return (answer.json as { data: Record<string, unknown> }).data;
}

export function sessionIn(answer: Answer): string {
  const token = (answer.json as { data?: { session_token?: string } } | undefined)?.data?.session_token;
  if (token === undefined) throw new Error(`No session in: ${answer.status} ${answer.text}`);
  recordSecret(token.split('.')[1] ?? '');
  return token;
}

export function codeOf(answer: Answer): string | undefined {
  return (answer.json as { error?: { code: string } } | undefined)?.error?.code;
}
