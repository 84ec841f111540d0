// Reads the request bodies of a service within one shared memory limit.
import express, { type Request, type Response } from 'express';
import { Failure, fail } from '../errors.ts';
import { limitKey } from '../ip.ts';
import { createByteBudget, type ByteBudget } from './byte-budget.ts';

/** The limit for a client's call; the gateway already refuses longer bodies. */
export const bodyBytesMax = 64 * 1024;
const internalBodyBytesMax = 4 * 1024 * 1024; // the gateway's batches
/** The limit of all bodies being read or used, as in gateways. */
const bodiesBytesMax = 64 * 1024 * 1024;
// The memory of a streamed upload: one chunk and the compressor.
const streamBytes = 4 * 1024 * 1024;

/** The bodies that a route accepts. */
export interface RouteBody {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** `client`: forwarded by the gateway for a client. `internal`: the gateway's own call. */
  scope: 'client' | 'internal';
  /** The maximum size of the body; 64 KB by default, 4 MB for the gateway's own calls. */
  bodyBytesMax?: number | undefined;
  /** Whether `request.body` is the bytes as sent instead of parsed JSON. */
  acceptsRawBody?: boolean;
  /** A body of any type is accepted, and not read. */
  acceptsAnyBody?: boolean;
  /** Whether the handler reads a body of any type from the request, and counts its bytes. */
  acceptsStream?: boolean;
}

/** Reserves memory for the call's body, and reads it into `request.body` unless the handler reads it. */
export type ReadBody = (request: Request, response: Response) => Promise<void> | void;

/** @param bytesMax for all bodies together. @returns creates the body reader of a route; null if its calls have no body. */
export function createBodyReader(bytesMax: number = bodiesBytesMax): (route: RouteBody) => ReadBody | null {
  const budget = createByteBudget(bytesMax);
  return (route) => {
    if (route.method !== 'POST' && route.method !== 'PATCH') return null;
    const read = route.acceptsStream === true || route.acceptsAnyBody === true ? null : parserOf(route);
    return (request, response) => {
      reserveBytes(budget, route, request, response);
      return read?.(request, response);
    };
  };
}

const limitOf = ({ bodyBytesMax: own, scope }: RouteBody) =>
  own ?? (scope === 'internal' ? internalBodyBytesMax : bodyBytesMax);

/**
 * Reserves the bytes of a body until its call is answered. A gateway sends bodies whole, so the full length is reserved at once.
 * @throws Failure `rate_limited` or `unavailable` if there is no room for them.
 */
function reserveBytes(bodies: ByteBudget, route: RouteBody, { headers }: Request, response: Response): void {
  const forwardedFor = headers['x-forwarded-for'];
  const client = typeof forwardedFor === 'string' ? limitKey(forwardedFor) : '';
  const reservation = bodies.reserve(route.scope === 'internal' ? 'gateways' : client);
  response.once('close', () => reservation.release());
  const length = Number(
    headers['content-length'] ?? (headers['transfer-encoding'] === undefined ? 0 : limitOf(route)),
  );
  reservation.grow(route.acceptsStream === true ? streamBytes : Math.min(length, limitOf(route)));
}

function parserOf(route: RouteBody): (request: Request, response: Response) => Promise<void> {
  const limit = limitOf(route);
  const read =
    route.acceptsRawBody === true
      ? express.raw({ limit, type: 'application/json' })
      : express.json({ limit, strict: false }); // the endpoint names what it expects instead of null or a number
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

/** express.json throws http-errors; a status below 500 means that the client's body is truncated, badly encoded or malformed. */
function fromBodyParser(thrown: Error, limit: number): Error {
  if (!('status' in thrown) || Number(thrown.status) >= 500) return thrown;
  return thrown.status === 413
    ? new Failure('payload_too_large', `The body must be at most ${limit / 1024} KB.`)
    : new Failure('invalid_body', 'The body is not valid JSON in UTF-8.');
}
