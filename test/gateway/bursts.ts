// Concurrent calls of one account at several gateways, and the number that the gateways allow in a second.
import { until } from '../run/until.ts';
import type { TestGateway } from './recording-upstream.ts';

type Gateways = readonly Pick<TestGateway, 'url'>[];

const ask = (url: string, key: string) => fetch(`${url}/v1/series/A`, { headers: { 'x-api-key': key } });

/** Makes all calls at once, distributed over the gateways. @returns the statuses. */
export function callAll(gateways: Gateways, key: string, calls: number): Promise<number[]> {
  return Promise.all(
    Array.from({ length: calls }, async (_, i) => {
      const { url } = gateways[i % gateways.length] as TestGateway;
      const response = await ask(url, key);
      await response.arrayBuffer();
      return response.status;
    }),
  );
}

/**
 * Serves the remaining calls of a month, until a round finds none at any gateway. @returns how many were served.
 * @throws Error if a call is answered neither 200 nor 402.
 */
export async function serveTheRest(gateways: Gateways, key: string): Promise<number> {
  let served = 0;
  for (;;) {
    const statuses = await callAll(gateways, key, 100);
    const wrong = statuses.filter((status) => status !== 200 && status !== 402);
    if (wrong.length > 0) throw new Error(`A call was answered ${wrong.join()}.`);
    const inRound = statuses.filter((status) => status === 200).length;
    if (inRound === 0) return served;
    served += inRound;
  }
}

/**
 * The number of calls that each gateway allows an account in a second. @param key of an account without calls in this second, so that no gateway
 * knows of calls at another one yet.
 */
export async function allowancesAt(gateways: Gateways, key: string): Promise<number[]> {
  const answers = await Promise.all(gateways.map(({ url }) => ask(url, key)));
  return Promise.all(
    answers.map(async (answer) => {
      await answer.arrayBuffer();
      const [, remaining] = /"second";r=(\d+)/.exec(answer.headers.get('ratelimit') ?? '') ?? [];
      return Number(remaining) + 1;
    }),
  );
}

/** So few calls that they cannot be mistaken for those served by the first gateway. */
const callsAtFirst = 50;
const roundsMost = 40;

/**
 * Resolves once the other gateways count the calls served by the first one. @param newKey creates an account without a monthly limit and with
 * `perSecond` calls per second.
 */
export async function countTogether(
  [first, ...others]: Gateways,
  perSecond: number,
  newKey: () => Promise<string>,
): Promise<void> {
  if (first === undefined) throw new Error('There is no gateway.');
  let key = '';
  let rounds = roundsMost;
  await until('the gateways count together', async () => {
    if (rounds === roundsMost) {
      key = await newKey();
      rounds = 0;
    }
    rounds += 1;
    await callAll([first], key, callsAtFirst);
    const allowances = await allowancesAt(others, key);
    const part = perSecond / (1 + others.length);
    return allowances.every((most) => most > part && most <= perSecond - callsAtFirst);
  });
}
