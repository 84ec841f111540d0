// Times the statements of a pool: a histogram for /metrics, a log line for each that is slow, a span if its call is traced. Hides the values in their texts.
import { currentCall } from '../tracing/call-context.ts';
import type { Log } from '../log/log.ts';
import type { SpanAbout } from '../tracing/tracing.ts';
import { newHistogram, observe, type Histogram } from './histogram.ts';

export interface StatementWatch {
  /** Runs a statement, from the wait for a connection to its last row. @param name of a prepared one. */
  run<T>(text: string, name: string | undefined, work: () => Promise<T>): Promise<T>;
  readonly time: Histogram;
  /** How many were slow. */
  readonly slow: number;
}

export interface StatementWatchOptions {
  log: Log;
  /** A statement that takes longer is logged; 0: none is. */
  slowMs: number;
  /** How many statements wait for a connection. */
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

/** Its name, or its first word: never its values. */
function aboutOf(text: string, name: string | undefined): SpanAbout {
  const [operation = ''] = /[a-z]+/i.exec(text.slice(0, 100)) ?? [];
  const attributes = { 'db.system.name': 'postgresql', 'db.operation.name': operation.toLowerCase() };
  return { name: name ?? operation.toLowerCase(), kind: 'client', attributes };
}

const shapeCharsMax = 1_000;
/** Texts: with backslashes as escapes, plain, between dollars. Then numbers that are neither parameters nor parts of names. */
const literals =
  /\be'(?:[^'\\]|''|\\.)*'|'(?:[^']|'')*'|\$([a-z_]*)\$[^]*?\$\1\$|(?<![$\w.])\d[\d.]*(?:e[+-]?\d+)?(?!\w)/gi;

/** The text of a statement with `?` for each value in it: Sequelize writes values into its statements, hashes of keys too. */
export function shapeOf(text: string): string {
  const shape = text.replaceAll(literals, '?').replaceAll(/\s+/g, ' ').trim();
  const quote = shape.indexOf("'"); // of a text that does not end
  const safe = quote < 0 ? shape : `${shape.slice(0, quote)}?`;
  return safe.length <= shapeCharsMax ? safe : `${safe.slice(0, shapeCharsMax)} …`;
}
