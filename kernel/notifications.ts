// PostgreSQL notifications, on a connection of their own that is reopened when it breaks or is half-open.
import { SteadyClient } from './database-circuit.ts';

export interface Signal {
  /** How often the signal was given. */
  count(this: void): number;
  /** Resolves when the signal was given after that count, or after so many ms. @param left ends the wait. */
  after(this: void, count: number, ms: number, left?: AbortSignal): Promise<void>;
}

/** Given with each notification, and when some may have been missed. While there is no connection, no notification arrives. */
export interface Notifications extends Signal {
  close(this: void): void;
}

const checkEveryMs = 3_000;

/** Listens from the first use of `count`. A connection without an answer until the next check may be half-open, and is replaced. */
export function listenTo(channel: string, databaseUrl: string): Notifications {
  const signal = createSignal();
  let client: SteadyClient | undefined;
  let isAsking = false;
  let checks: NodeJS.Timeout | undefined;

  function check(): void {
    if (client !== undefined && isAsking) client.cut();
    if (client === undefined || isAsking) client = connection();
    const own = client;
    isAsking = true;
    own.query('select').then(() => {
      if (client === own) isAsking = false;
    }, lost(own));
  }

  function connection(): SteadyClient {
    const own = new SteadyClient({
      connectionString: databaseUrl,
      application_name: 'almanac notifications',
    });
    own.on('notification', signal.notify);
    own.once('end', lost(own));
    own
      .connect()
      .then(() => own.query(`listen ${channel}`))
      .then(signal.notify, lost(own)); // notifications before LISTEN were not received
    return own;
  }

  const lost = (own: SteadyClient) => () => {
    if (client === own) client = undefined;
    own.cut();
  };

  return {
    after: signal.after,
    count() {
      if (checks === undefined) {
        checks = setInterval(check, checkEveryMs).unref();
        check();
      }
      return signal.count();
    },
    close() {
      clearInterval(checks);
      client?.cut();
      client = undefined;
    },
  };
}

/** Wakes all waiting callers. A wait that has ended leaves no listener behind, however rarely the signal is given. */
export function createSignal(): Signal & { notify(this: void): void } {
  const waiting = new Set<() => void>();
  let given = 0;
  return {
    count: () => given,
    after(count, ms, left) {
      if (count !== given || left?.aborted === true) return Promise.resolve();
      return new Promise((resolve) => {
        const end = () => {
          clearTimeout(timer);
          waiting.delete(end);
          left?.removeEventListener('abort', end);
          resolve();
        };
        const timer = setTimeout(end, ms);
        waiting.add(end);
        left?.addEventListener('abort', end);
      });
    },
    notify() {
      given += 1;
      for (const end of waiting) end();
    },
  };
}
