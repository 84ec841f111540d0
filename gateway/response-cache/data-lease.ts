// The lease on the state of the data: a gateway may answer from memory while no newer load can have been reported as done.
// It asks data-api for the newest load; whoever reports a load waits until leases of before have ended (`inForceAfterMs`).
import { Agent } from 'undici';
import { z } from 'zod';
import { anonymous, createSealer, identityHeader } from '../../kernel/identity.ts';
import { answerLeaseMs, newestLoadPath, type DataState } from '../../kernel/http/validity.ts';
import type { Log } from '../../kernel/log/log.ts';
import { createLease, type Lease } from './lease.ts';
import type { Upstreams } from '../upstream/upstreams.ts';

const stateSchema: z.ZodType<DataState> = z.object({ edition: z.string(), load: z.int().min(0) });

const renewEveryMs = 250;
/** Beyond this the answer would come when the lease that it grants has ended. */
const answersWithinMs = answerLeaseMs;
const idleAfterMs = 5_000;
/** The codes of a connection that was refused or broken; one that is only slow may serve calls. */
const isBroken = /^(ECONNREFUSED|ECONNRESET|EPIPE|UND_ERR_SOCKET)$/;

export interface DataLeaseOptions {
  upstreams: Upstreams;
  identitySecret: string;
  log: Log;
}

export function createDataLease({ upstreams, identitySecret, log }: DataLeaseOptions): Lease<DataState> {
  const seal = createSealer(identitySecret, upstreams.name);
  const ourselves = { ...anonymous, scope: 'internal' } as const;
  const agent = new Agent({ connect: { timeout: answersWithinMs } });
  let newest: DataState | undefined;

  async function ask(): Promise<DataState> {
    const origin = upstreams.pick(undefined); // calls wait for what becomes of it, if it had failed before
    const request = agent.request({
      origin,
      path: newestLoadPath,
      method: 'GET',
      headers: { [identityHeader]: seal(ourselves, 'GET', newestLoadPath) },
      headersTimeout: answersWithinMs,
      bodyTimeout: answersWithinMs,
    });
    const response = await request.catch((error: NodeJS.ErrnoException) => {
      if (isBroken.test(error.code ?? '')) upstreams.failed(origin);
      throw error;
    });
    upstreams.answered(origin);
    const text = await response.body.text();
    if (response.statusCode !== 200) throw new Error(`data-api answered ${response.statusCode}: ${text}`);
    const found = stateSchema.parse(JSON.parse(text));
    if (newest?.edition === found.edition) {
      if (found.load === newest.load) return newest;
      // An instance whose database is behind that of another one.
      if (found.load < newest.load)
        throw new Error(`data-api knows of load ${found.load}, after ${newest.load}.`);
    }
    return (newest = found);
  }

  const lease = createLease({
    on: 'the state of the data',
    ask,
    leaseMs: answerLeaseMs,
    renewEveryMs,
    idleAfterMs,
    log,
  });
  return {
    ...lease,
    async close() {
      await lease.close();
      await agent.destroy();
    },
  };
}
