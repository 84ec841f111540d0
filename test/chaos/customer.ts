// A customer in the chaos run, whose webhook endpoint is notified of each load, and calls at once. Afterwards it must have been notified of every
// load at least once, and of nothing else.
import { createServer, type IncomingMessage } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { z } from 'zod';
import type { Database } from '../../kernel/database.ts';
import { closeServer, listen } from '../../kernel/http/server.ts';
import { until } from '../run/until.ts';
import type { Caller } from './calls.ts';
import type { Service } from './units.ts';

export interface Customer {
  /** After the last load: waits until the endpoint was notified of all of them. @returns the faults, as sentences. */
  stop(): Promise<string[]>;
  /** For the summary of the run. */
  readonly summary: string;
}

export interface CustomerOptions {
  database: Database;
  /** Runs when the endpoint is notified of a load. */
  onNotified: (load: number) => void;
  /** The gateways, for the management of the endpoint. */
  gateways: readonly Service[];
  /** Of an account whose plan has webhooks. */
  who: Caller;
}

const notifiedWithinMs = 180_000;
const event = z.object({ type: z.literal('series.updated'), data: z.object({ load: z.int() }) });
const made = z.object({ data: z.object({ id: z.string(), secret: z.string() }) });
const listed = z.object({ data: z.array(z.object({ id: z.string() })) });

export async function startCustomer(options: CustomerOptions): Promise<Customer> {
  const { database, onNotified } = options;
  const before = await loadsAfter(database, 0);
  const receiver = createReceiver(onNotified);
  const url = await listen(receiver.server, '127.0.0.1', 0);
  const { id, secret } = made.parse(
    await manage(options, 'POST', '/v1/webhooks', { url: `${url}/events`, events: ['series.updated'] }),
  ).data;
  receiver.verifyWith(secret);
  let loads: number[] = [];

  async function resendWaiting(): Promise<void> {
    // A delivery that failed twice, as its worker was killed in both attempts, waits for five minutes.
    const { data } = listed.parse(
      await manage(options, 'GET', `/v1/webhooks/${id}/deliveries?status=pending&limit=100`),
    );
    for (const delivery of data) {
      await manage(options, 'POST', `/v1/webhooks/${id}/deliveries/${delivery.id}/redeliver`);
    }
  }

  return {
    async stop() {
      loads = await loadsAfter(database, Math.max(...before));
      const unreported = () => loads.filter((loadNo) => !receiver.reported.has(loadNo));
      await resendWaiting();
      const wrong: string[] = [...receiver.faults];
      await until(
        'the endpoint was notified of every load',
        () => unreported().length === 0,
        notifiedWithinMs,
      ).catch(
        (error: unknown) =>
          void wrong.push(`${String(error)} Untold: ${unreported().slice(0, 10).join(', ')}`),
      );
      const invented = [...receiver.reported.keys()].filter((loadNo) => !loads.includes(loadNo));
      wrong.push(
        ...invented.map((loadNo) => `the endpoint was notified of load ${loadNo}, which does not exist`),
      );
      await closeServer(receiver.server);
      return wrong;
    },
    get summary() {
      const calls = [...receiver.reported.values()].reduce((sum, count) => sum + count, 0);
      return `${loads.length} loads; the endpoint was notified ${calls} times, and refused ${receiver.refused}`;
    },
  };
}

/** An endpoint that refuses every third message once. */
function createReceiver(onNotified: (load: number) => void) {
  const reported = new Map<number, number>(); // by load
  const seen = new Set<string>();
  const faults: string[] = [];
  let webhook: Webhook | undefined;
  let refused = 0;
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      const id = String(request.headers['webhook-id']);
      const isFirst = !seen.has(id);
      seen.add(id);
      if (isFirst && seen.size % 3 === 0) {
        refused += 1;
        response.writeHead(500).end();
        return;
      }
      try {
        const { load: loadNo } = event.parse(webhook?.verify(body, headersOf(request))).data;
        reported.set(loadNo, (reported.get(loadNo) ?? 0) + 1);
        onNotified(loadNo);
      } catch (error) {
        faults.push(`the endpoint was sent what is no event: ${String(error)}`);
      }
      response.writeHead(204).end();
    });
  });
  return {
    server,
    reported,
    faults,
    verifyWith: (secret: string) => void (webhook = new Webhook(secret)),
    get refused() {
      return refused;
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function headersOf({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

async function loadsAfter(database: Database, loadNo: number): Promise<number[]> {
  const rows = await database.query<{ load_no: number }>(
    'select load_no from data.loads where load_no > $1',
    [loadNo],
  );
  return rows.map((row) => row.load_no);
}

/** Calls the management API, at another gateway after each that does not answer. @throws Error if no gateway answers well. */
async function manage(
  { gateways, who }: CustomerOptions,
  method: string,
  path: string,
  body?: object,
): Promise<unknown> {
  let answer = '';
  for (const gateway of gateways) {
    const response = await fetch(gateway.url + path, {
      method,
      headers: { 'x-api-key': who.key, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    answer = await response.text();
    if (response.ok) return answer === '' ? {} : JSON.parse(answer);
  }
  throw new Error(`${method} ${path}: ${answer}`);
}
