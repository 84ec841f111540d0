// Structured logs, one JSON line each. Hides redaction: no field of a log line ever holds a key, a token or a raw query.
import { pino, type Logger } from 'pino';

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

/** @param room which part of Almanac speaks. @param level a pino level, or `silent`. */
export function createLog(room: string, level: string, destination?: { write(line: string): void }): Log {
  const options = {
    level,
    base: { room },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: secretFields.flatMap((field) => [field, `*.${field}`]), censor: '[redacted]' },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}
