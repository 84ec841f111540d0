// Reads the bodies of the calls to a service, within the memory that they may take all together. Hides Express's body parsers.
import express, { type Request, type Response } from 'express';
import { Failure, fail } from '../errors.ts';
import type { Route } from '../http/server.ts';
import { limitKey } from '../ip.ts';
import { createByteBudget, type ByteBudget } from './byte-budget.ts';

/** The limit for a client's call; the gateway already refuses more. */
export const bodyBytesMax = 64 * 1024;
const internalBodyBytesMax = 4 * 1024 * 1024; // the gateway's batches
/** Of all bodies that are being read or used, as gateways bound theirs. */
const bodiesBytesMax = 64 * 1024 * 1024;
// What an upload takes that a handler streams: a piece of it, and the compressor.
const streamBytes = 4 * 1024 * 1024;

/** Holds the memory of a call's body, and reads it into `request.body`, unless its handler reads it. */
export type ReadBody = (request: Request, response: Response) => Promise<void> | void;

/** @param bytesMax of all bodies together. @returns makes the reader of a route's bodies; null if its calls have none. */
export function createBodyReader(bytesMax: number = bodiesBytesMax): (route: Route) => ReadBody | null {
  const budget = createByteBudget(bytesMax);
  return (route) => {
    if (route.method !== 'POST' && route.method !== 'PATCH') return null;
    const read = route.takesStream === true || route.takesAnyBody === true ? null : parserOf(route);
    return (request, response) => {
      holdBytes(budget, route, request, response);
      return read?.(request, response);
    };
  };
}

const limitOf = ({ bodyBytesMax: own, scope }: Route) =>
  own ?? (scope === 'internal' ? internalBodyBytesMax : bodyBytesMax);

/**
 * Holds the bytes of a body until its call is answered. A gateway sends bodies whole, so the full length is counted at once.
 * @throws Failure `rate_limited` or `unavailable` without room for them.
 */
function holdBytes(bodies: ByteBudget, route: Route, { headers }: Request, response: Response): void {
  const forwardedFor = headers['x-forwarded-for'];
  const client = typeof forwardedFor === 'string' ? limitKey(forwardedFor) : '';
  const held = bodies.hold(route.scope === 'internal' ? 'gateways' : client);
  response.once('close', () => held.release());
  const length = Number(
    headers['content-length'] ?? (headers['transfer-encoding'] === undefined ? 0 : limitOf(route)),
  );
  held.grow(route.takesStream === true ? streamBytes : Math.min(length, limitOf(route)));
}

function parserOf(route: Route): (request: Request, response: Response) => Promise<void> {
  const limit = limitOf(route);
  const read =
    route.takesRawBody === true ? express.raw({ limit, type: 'application/json' }) : express.json({ limit });
  return (request, response) =>
    new Promise((resolve, reject) => {
      requireJson(request);
      read(request, response, (error?: Error) =>
        error === undefined ? resolve() : reject(fromBodyParser(error, limit)),
      );
    });
}

function requireJson(request: Request): void {
  const hasBody =
    request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length']) > 0;
  if (hasBody && request.is('application/json') === false) {
    fail('unsupported_media_type', 'The body must be JSON: send Content-Type: application/json.');
  }
}

/** express.json throws http-errors; a status below 500 means that the client's body is cut off, encoded or written wrongly. */
function fromBodyParser(thrown: Error, limit: number): Error {
  if (!('status' in thrown) || Number(thrown.status) >= 500) return thrown;
  return thrown.status === 413
    ? new Failure('payload_too_large', `The body may have at most ${limit / 1024} KB.`)
    : new Failure('invalid_body', 'The body is not valid JSON in UTF-8.');
}
