// Times the statements of a pool: a histogram for /metrics, a log line for each slow statement, a span if its call is traced. The values in
// statements are never shown.
import { currentCall } from '../tracing/call-context.ts';
import type { Log } from '../log/log.ts';
import type { SpanAbout } from '../tracing/tracing.ts';
import { newHistogram, observe, type Histogram } from './histogram.ts';

export interface StatementWatch {
  /** Runs a statement, from the wait for a connection to its last row. @param name of a prepared statement. */
  run<T>(text: string, name: string | undefined, work: () => Promise<T>): Promise<T>;
  readonly time: Histogram;
  /** The number of slow statements. */
  readonly slow: number;
}

export interface StatementWatchOptions {
  log: Log;
  /** Logs statements that take longer; 0: no statement. */
  slowMs: number;
  /** The number of statements that wait for a connection. */
  waiting: () => number;
}

export function watchStatements({ log, slowMs, waiting }: StatementWatchOptions): StatementWatch {
  const time = newHistogram();
  let slow = 0;

  function noteSlow(text: string, name: string | undefined, ms: number, waitedBehind: number): void {
    slow += 1;
    const entry = {
      event: 'slow_statement',
      request_id: currentCall()?.requestId,
      statement: name,
      sql: shapeOf(text),
      duration_ms: Math.round(ms),
      waited_behind: waitedBehind,
    };
    log.warn(entry, 'a statement was slow');
  }

  return {
    time,
    get slow() {
      return slow;
    },
    async run(text, name, work) {
      const startedAtMs = performance.now();
      const waitedBehind = waiting();
      const span = currentCall()?.span?.child(aboutOf(text, name));
      let failed = true;
      try {
        const result = await work();
        failed = false;
        return result;
      } finally {
        span?.end({ failed });
        const ms = performance.now() - startedAtMs;
        observe(time, ms / 1000);
        if (slowMs > 0 && ms > slowMs) noteSlow(text, name, ms, waitedBehind);
      }
    },
  };
}

/** The statement's name, or its first word; never its values. */
function aboutOf(text: string, name: string | undefined): SpanAbout {
  const [operation = ''] = /[a-z]+/i.exec(text.slice(0, 100)) ?? [];
  const attributes = { 'db.system.name': 'postgresql', 'db.operation.name': operation.toLowerCase() };
  return { name: name ?? operation.toLowerCase(), kind: 'client', attributes };
}

const shapeCharsMax = 1_000;
/** Text literals: with backslash escapes, plain, dollar-quoted. Then numbers that are neither parameters nor parts of names. */
const literals =
  /\be'(?:[^'\\]|''|\\.)*'|'(?:[^']|'')*'|\$([a-z_]*)\$[^]*?\$\1\$|(?<![$\w.])\d[\d.]*(?:e[+-]?\d+)?(?!\w)/gi;

/** The text of a statement with `?` for each value: Sequelize writes values into its statements, including hashes of keys. */
export function shapeOf(text: string): string {
  const shape = text.replaceAll(literals, '?').replaceAll(/\s+/g, ' ').trim();
  const quote = shape.indexOf("'"); // the start of an unterminated text literal
  const safe = quote < 0 ? shape : `${shape.slice(0, quote)}?`;
  return safe.length <= shapeCharsMax ? safe : `${safe.slice(0, shapeCharsMax)} …`;
}
