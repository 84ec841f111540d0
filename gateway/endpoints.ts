// Declares the endpoints that the gateway itself answers, as the services declare theirs, for the OpenAPI document.
import { z } from 'zod';
import type { Declaration } from '../kernel/http/endpoint.ts';

const query = z.object({});
const done = z.object({ success: z.literal(true) });
const state = z.enum(['ready', 'unavailable']);
const readiness = done.extend({ data: z.object({ 'data-api': state, 'accounts-api': state }) });

export const endpoints: Readonly<Record<string, Declaration>> = {
  '/healthz': {
    summary: 'Liveness: the process is up.',
    query,
    answers: [{ status: 200, description: 'The process is up.', content: { 'application/json': done } }],
    errors: [],
  },
  '/readyz': {
    summary: 'Readiness: calls can be served.',
    description:
      'Which of the services behind the gateway are ready. 503 if none is, if one refuses the identity of the gateway, or if the gateway is stopping.',
    query,
    answers: [
      { status: 200, description: 'Calls can be served.', content: { 'application/json': readiness } },
    ],
    errors: ['unavailable'],
  },
  '/docs/errors': {
    summary: 'What each error code means.',
    query,
    answers: [
      {
        status: 200,
        description: 'A page with a section per code.',
        content: { 'text/html': z.string() },
        headers: ['ETag'],
      },
    ],
    errors: [],
  },
  '/v1/openapi.json': {
    summary: 'This document.',
    query,
    answers: [
      {
        status: 200,
        description: 'OpenAPI 3.1.',
        content: { 'application/json': z.looseObject({ openapi: z.string() }) },
        headers: ['ETag'],
      },
    ],
    errors: [],
  },
};
