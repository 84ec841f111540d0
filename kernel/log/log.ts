// Structured logs, one JSON line each. No field of a line ever contains a key, a token or a raw query.
import { pino, type Logger } from 'pino';
import { LogOutput } from './output.ts';

export type Log = Logger;

const secretFields = [
  'api_key',
  'key',
  'token',
  'password',
  'secret',
  'authorization',
  'cookie',
  'session_token',
];

// The prefixes of our secrets, and the path segment that is a secret. Those of webhooks are in base64, which has slashes.
const secretShape =
  /(?<![A-Za-z0-9])(?:(?:pk_live_|sess_)[\w.+=-]+|whsec_[\w+/=-]+)|(?<=\/account\/key\/)[^/?]+/g;

const mayContainSecret = /[%_]|\/account\//;

/** A path that is safe to log: clients put keys in place of ids, and the path that shows a new key contains its token. */
export function withoutSecrets(path: string): string {
  if (!mayContainSecret.test(path)) return path;
  const plain = path.replace(/%([2-7][0-9a-f])/gi, (_whole, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return plain.replace(secretShape, '[redacted]');
}

let second = -1;
let secondText = '';

/** Replaces pino's function, which creates a Date for each instant: 1.7 % of a gateway's time (2026-11-20). */
function isoTime(): string {
  const now = Date.now();
  const millisecond = now % 1000;
  if (now - millisecond !== second) {
    second = now - millisecond;
    secondText = new Date(second).toISOString().slice(0, -4);
  }
  return `,"time":"${secondText}${String(millisecond).padStart(3, '0')}Z"`;
}

interface Destination {
  write(line: string): void;
}

const outputs = new Map<number, LogOutput>();

function outputOf(descriptor: 1 | 2): LogOutput {
  const output = outputs.get(descriptor) ?? new LogOutput(descriptor);
  outputs.set(descriptor, output);
  return output;
}

/** The destination of the services' logs. Commands log to standard error: their standard output has only their result. */
export const standardOutput = (): Destination => outputOf(1);

/** The destination of each log. */
const destinations = new WeakMap<Log, Destination>();

/**
 * @param service the name of the part of Almanac that logs. @param level a pino level, or `silent`.
 * @param destination standard error by default.
 */
export function createLog(service: string, level: string, destination: Destination = outputOf(2)): Log {
  const options = {
    level,
    base: { service },
    timestamp: isoTime,
    serializers: { path: (path: unknown) => (typeof path === 'string' ? withoutSecrets(path) : path) },
    redact: { paths: secretFields.flatMap((field) => [field, `*.${field}`]), censor: '[redacted]' },
  };
  const log = pino(options, destination);
  destinations.set(log, destination);
  return log;
}

/** The file descriptor that a log writes to, so that a child process can write beside its parent's log. */
export function descriptorOf(log: Log): number {
  const destination = destinations.get(log);
  return destination instanceof LogOutput ? destination.descriptor : 2;
}

/**
 * For a message that is logged thousands of times a second: writes lines like pino, at level `info`, from fields that are already JSON. Nothing is
 * redacted.
 * @param log from `createLog`.
 * @returns accepts `,"name":value,…`, each value in JSON.
 */
export function lineWriter(log: Log, message: string): (fields: string) => void {
  const destination = destinations.get(log);
  if (destination === undefined) throw new TypeError('This log was not created by createLog.');
  const bindings = `,${JSON.stringify(log.bindings()).slice(1, -1)}`;
  const begin = `{"level":${log.levels.values['info']}`;
  const end = `,"msg":${JSON.stringify(message)}}\n`;
  return (fields) => destination.write(begin + isoTime() + bindings + fields + end);
}
