// An operator of the whole system who calls through the gateway, for the tests of operators' actions on data.
import { setRole } from '../../../accounts-api/operator/account-access.ts';
import { peopleOf, type Answer } from '../../auth/people.ts';
import type { Services } from '../../services/services.ts';

/** The paths are below `/v1/operator`. */
export interface Operating {
  accountId: string;
  get(path: string): Promise<Answer>;
  post(path: string, body?: unknown): Promise<Answer>;
  patch(path: string, body: unknown): Promise<Answer>;
  delete(path: string): Promise<Answer>;
  /** Uploads a file. @param more further parameters. */
  upload(name: string, content: string | Buffer, more?: string): Promise<Answer>;
}

export async function newOperator(services: Services): Promise<Operating> {
  const { ask, newPerson } = peopleOf(services);
  const { email, session } = await newPerson();
  await setRole(services.accounts, email, 'operator');
  const account = (await ask('GET', '/v1/account', { session })).json as { data: { id: string } };
  return {
    accountId: account.data.id,
    get: (path) => ask('GET', `/v1/operator${path}`, { session }),
    post: (path, body) =>
      ask('POST', `/v1/operator${path}`, { session, ...(body === undefined ? {} : { body }) }),
    patch: (path, body) => ask('PATCH', `/v1/operator${path}`, { session, body }),
    delete: (path) => ask('DELETE', `/v1/operator${path}`, { session }),
    upload: (name, content, more = '') =>
      services.call(`/v1/operator/uploads?name=${encodeURIComponent(name)}${more}`, {
        method: 'POST',
        body: Buffer.from(content),
        headers: { 'content-type': 'application/octet-stream', 'x-session-token': session },
      }),
  };
}

/** The `data` of an answer; the caller states its type. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters
export const dataOf = <Data>(answer: Answer): Data => (answer.json as { data: Data }).data;

export const messageOf = (answer: Answer): string =>
  (answer.json as { error: { message: string } }).error.message;
