// The policies that a call passes, by name and in order, and how they run. config/gateway.config.yml lists the policies of each pipeline. Read-only
// pipelines run directly on the HTTP server, with the same policies in the same order, which saves the 40 µs per call of the engine's two nested
// routers.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import { queryBody } from './bodies/query-body.ts';
import { stripeEvents } from './bodies/stripe-events.ts';
import { mcp } from './mcp/mcp.ts';
import { dashboardAction } from './pages/dashboard.ts';
import { page, pageNames } from './pages/page.ts';
import type { Parts } from './parts.ts';
import { concurrency } from './policies/concurrency.ts';
import { cors } from './policies/cors.ts';
import { credential, credentialAction } from './policies/credential.ts';
import { notSetUp } from './policies/forward.ts';
import { framing, framingAction } from './policies/framing.ts';
import { health } from './policies/health.ts';
import { notFound } from './policies/not-found.ts';
import { pathCheck, plainPath } from './policies/path-check.ts';
import { pin } from './policies/pin.ts';
import { plan, planAction } from './policies/plan.ts';
import { quota, quotaAction } from './policies/quota.ts';
import { rate, rateAction } from './policies/rate.ts';
import { requestId } from './policies/request-id.ts';
import { responseCache } from './policies/response-cache.ts';
import { session } from './policies/session.ts';
import { usage } from './policies/usage.ts';
import { withAction, withoutAction, type BuildPolicy, type Policy, type RunCompiled } from './policy.ts';
import { groupName, type GatewayRoutes, type PipelineRoutes } from './routes.ts';

const corsAction = z.strictObject({ from: z.enum(['any', 'dashboard']) });
const forwardAction = z.strictObject({ to: z.enum(['data-api', 'accounts-api', 'publisher']) });
const pageAction = z.strictObject({ of: z.enum(pageNames) });

/**
 * The policies by name. `GET /v1/series/{id}` passes the first group from top to bottom: it is read, identified, counted, and answered from memory or
 * by data-api. Each policy calls the next one, answers, or throws a Failure.
 * @param dispatch runs a read inside another call, by the active pipelines.
 */
export function policiesOf(parts: Parts, dispatch: RunCompiled): Record<string, BuildPolicy> {
  const { options, routes, accounts, credentials, month, journal, failures } = parts;
  const { fileCharges, rateLimiter, concurrencyLimiter } = parts;
  const { plans, clock, publicCallsPerSecond, managementCallsPerSecond } = options;
  const { forwarders, dashboardFor } = parts;
  const rates = { rateLimiter, publicCallsPerSecond, managementCallsPerSecond };
  const keyed = { plans, findKey: credentials.find, failures, journal };
  return {
    'request-id': withoutAction(requestId(parts.opening)),
    framing: withAction(framingAction, (action) => framing(action, options.uploadMb)),
    'path-check': withoutAction(pathCheck()),
    cors: withAction(corsAction, ({ from }) =>
      cors({ dashboardOrigins: options.dashboardOrigins, methodsAt: (at) => routes().methodsAt(at) }, from),
    ),
    credential: withAction(credentialAction, (action) => credential({ ...keyed, accounts }, action)),
    pin: withoutAction(pin(keyed)),
    usage: withoutAction(usage({ journal, clock })),
    plan: withAction(planAction, (action) => plan(plans, action)),
    rate: withAction(rateAction, (action) => rate(rates, action)),
    concurrency: withoutAction(concurrency({ limiter: concurrencyLimiter, refusals: options })),
    'query-body': withoutAction(queryBody(parts.bodies)),
    quota: withAction(quotaAction, (action) => quota({ month, fileCharges, clock }, action)),
    'response-cache': withoutAction(responseCache(parts.responses)),
    forward: withAction(forwardAction, ({ to }) => forwarders[to]?.policy ?? notSetUp),

    // Used by other pipelines only.
    session: withoutAction(session(accounts, plans)),
    mcp: withoutAction(
      mcp({ ...options, bodies: parts.bodies, rate: rate(rates, { by: 'account' }), dispatch }),
    ),
    'stripe-events': withoutAction(stripeEvents({ accounts, clock })),
    page: withAction(pageAction, ({ of }) => page(of)),
    dashboard: withAction(dashboardAction, (action) => dashboardFor(action)),
    health: withoutAction(health(parts.readiness)),
    'not-found': withoutAction(notFound(routes)),
  };
}

interface CompiledRoute {
  pattern: RegExp;
  methods: ReadonlySet<string>;
  steps: readonly Policy[];
}

/** @param answerFailure answers when a policy throws. */
export function compilePipelines(
  { pipelines }: GatewayRoutes,
  policies: Readonly<Record<string, BuildPolicy>>,
  answerFailure: (request: IncomingMessage, response: ServerResponse, thrown: unknown) => void,
): RunCompiled {
  const compiled = new Map<string, CompiledRoute[]>(); // by path group
  for (const { routes, steps } of pipelines.filter(onlyReads)) {
    const methods = new Set(['GET', 'HEAD', ...(routes[0]?.methods ?? [])]);
    const built = steps.map(({ policy, action }) => {
      const build = policies[policy];
      if (build === undefined) throw new Error(`There is no policy "${policy}".`);
      return build(action);
    });
    for (const { path, pattern } of routes) {
      const group = groupName(path);
      compiled.set(group, [...(compiled.get(group) ?? []), { pattern, methods, steps: built }]);
    }
  }
  return (request, response) => {
    const found = compiledRouteOf(compiled, request);
    return found && runSteps(found.steps, request, response, answerFailure);
  };
}

/** Whether every path of the pipeline accepts GET, possibly OPTIONS, and nothing else. */
function onlyReads({ routes }: PipelineRoutes): boolean {
  const methods = routes[0]?.methods;
  return (
    methods?.includes('GET') === true &&
    methods.every((method) => method === 'GET' || method === 'OPTIONS') &&
    routes.every((route) => route.methods?.join() === methods.join())
  );
}

/** Matches only plainly normal paths. The engine routes all others, and `path-check` refuses them. */
function compiledRouteOf(
  compiled: ReadonlyMap<string, readonly CompiledRoute[]>,
  { url = '', method = '' }: IncomingMessage,
): CompiledRoute | undefined {
  const mark = url.indexOf('?');
  const path = mark < 0 ? url : url.slice(0, mark);
  if (!plainPath.test(path)) return undefined;
  return compiled
    .get(groupName(path))
    ?.find(({ methods, pattern }) => methods.has(method) && pattern.test(path));
}

async function runSteps(
  steps: readonly Policy[],
  request: IncomingMessage,
  response: ServerResponse,
  answerFailure: (request: IncomingMessage, response: ServerResponse, thrown: unknown) => void,
): Promise<void> {
  let passed = true;
  const pass = () => void (passed = true);
  try {
    // By index: an iterator would allocate an object per policy in an async function.
    for (let i = 0; passed && i < steps.length; i += 1) {
      passed = false;
      const work = (steps[i] as Policy)(request, response, pass);
      if (work !== undefined) await work; // most policies are synchronous, and an unneeded await costs as much as they do
    }
  } catch (error) {
    answerFailure(request, response, error);
  }
}
