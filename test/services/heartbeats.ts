// Heartbeats as gateways send them, to accounts-api alone.
import { randomUUID } from 'node:crypto';
import type { Batch, Credential, HeartbeatAnswer, HeartbeatMessage } from '../../kernel/heartbeat/message.ts';
import { utcMonth, type Clock } from '../../kernel/clock.ts';
import { untilThere } from '../run/until.ts';
import type { Answer } from './accounts-service.ts';

type Internally = (path: string, body: unknown) => Promise<Answer>;

/** @param clock of the gateways. */
export function heartbeatsTo(internally: Internally, clock: Clock) {
  const post = (message: Partial<HeartbeatMessage>) =>
    internally('/internal/heartbeat', {
      ...{
        life: randomUUID(),
        begins: false,
        seen: 0,
        wait_ms: 0,
        ended: [],
        batch: null,
        wants: [],
        keys: [],
      },
      ...{ month: utcMonth(clock.now()), ...message },
    });

  /** Repeats the heartbeat while the database is too slow for it, as a gateway does. @throws Error unless it is answered 200 then. */
  async function beat(message: Partial<HeartbeatMessage>): Promise<HeartbeatAnswer> {
    const answered = async () => {
      const answer = await post(message);
      return answer.status === 503 ? undefined : answer;
    };
    const answer = await untilThere('the heartbeat is answered', answered);
    if (answer.status !== 200) throw new Error(`The heartbeat was answered ${answer.status}.`);
    return answer.body as HeartbeatAnswer;
  }

  return {
    post,
    beat,
    /** The owners of keys, as a gateway learns them that begins and ends with the question. */
    async lookUp(...keys: string[]): Promise<(Credential | null)[]> {
      const life = randomUUID();
      const { credentials } = await beat({ life, begins: true, keys });
      await beat({ ended: [life] });
      return credentials;
    },
    /** Reports a batch, of no life that would get a lease by it. */
    settle: (batch: Partial<Batch>) => post({ batch: batchOf(batch) }),
    /** Has up to so many calls granted to a new life, and reports all of them as served. @returns how many. */
    async take(of: { account_id: string; month: string }, calls: number): Promise<number> {
      const life = randomUUID();
      const { grants } = await beat({ life, begins: true, wants: [{ ...of, has: 0, calls, ahead: 0 }] });
      const granted = grants[0]?.granted ?? Number.NaN;
      const spent = [{ life, ...of, calls: granted, returned: 0 }];
      await beat({ life, seen: 0, batch: batchOf({ spent }), ended: [life] });
      return granted;
    },
  };
}

export function batchOf(batch: Partial<Batch>): Batch {
  return { batch_id: randomUUID(), usage: [], charges: [], spent: [], files: [], last_used: [], ...batch };
}
