// Sends heartbeats to accounts-api like a gateway.
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

  /** Repeats the heartbeat while the database is too slow, like a gateway. */
  function answered(message: Partial<HeartbeatMessage>): Promise<Answer> {
    return untilThere('the heartbeat is answered', async () => {
      const answer = await post(message);
      return answer.status === 503 ? undefined : answer;
    });
  }

  /** The same. @throws Error unless it is answered 200 in the end. */
  async function beat(message: Partial<HeartbeatMessage>): Promise<HeartbeatAnswer> {
    const answer = await answered(message);
    if (answer.status !== 200) throw new Error(`The heartbeat was answered ${answer.status}.`);
    return answer.body as HeartbeatAnswer;
  }

  return {
    post,
    beat,
    /** The owners of keys, as received by a gateway whose life consists of this one request. */
    async lookUp(...keys: string[]): Promise<(Credential | null)[]> {
      const life = randomUUID();
      const { credentials } = await beat({ life, begins: true, keys });
      await beat({ ended: [life] });
      return credentials;
    },
    /** Reports a batch without a life that would get a lease. */
    report: (batch: Partial<Batch>) => answered({ batch: batchOf(batch) }),
    /** Requests up to this many calls for a new life, and reports all granted calls as served. @returns their number. */
    async charge(of: { account_id: string; month: string }, calls: number): Promise<number> {
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
