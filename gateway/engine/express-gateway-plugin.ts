// The adapter between our policies and express-gateway. Only this file and express-gateway.ts know the engine.
// The engine requires this module by its path and calls `init`; express-gateway.ts first passes in what to run by `prepare`.
import type { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { BuildPolicy, Policy } from '../policy.ts';

/** The input of a run of the engine. */
export interface Prepared {
  policies: Readonly<Record<string, BuildPolicy>>;
  /** The routes in the engine's format. The engine does not listen; server.ts does. */
  gatewayConfig: object;
  /** Receives the engine's app, on which the pipelines are mounted. */
  onApp: (app: EngineApp) => void;
  /** Answers if a policy throws. */
  answerFailure: (request: IncomingMessage, response: ServerResponse, thrown: unknown) => void;
}

/** An Express 4 app. It calls `next` if it does not answer. */
export interface EngineApp {
  (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void): void;
  /** The prototype of its responses, which can be extended. */
  readonly response: ServerResponse;
}

interface EngineContext {
  registerPolicy(policy: { name: string; policy: (action: object) => Policy }): void;
  config: { gatewayConfig: object };
  /** Each run of the engine subscribes to it. */
  eventBus: EventEmitter;
  registerGatewayRoute(declare: (app: EngineApp) => void): void;
}

let prepared: Prepared | undefined;

/** Call this immediately before the engine runs: the engine loads and builds everything in the same turn. */
export function prepare(next: Prepared): void {
  prepared = next;
}

/** The version of the plugin interface, which the engine compares with its own, 1.2.0. */
export const version = '1.0.0';

export function init(context: EngineContext): void {
  const { policies, gatewayConfig, onApp } = current();
  context.config.gatewayConfig = gatewayConfig;
  // The previous run still listens for reloads by the engine's own watcher, which is off; the listener would keep its app in memory.
  context.eventBus.removeAllListeners('hot-reload');
  context.registerGatewayRoute(onApp);
  for (const name of Object.keys(policies)) {
    context.registerPolicy({ name, policy: (action) => build(name, action) });
  }
}

/** The engine keeps a registered policy for the life of the process, so each build reads the current `prepared`. */
function build(name: string, engineAction: object): Policy {
  const { policies, answerFailure } = current();
  const buildPolicy = policies[name];
  if (buildPolicy === undefined) throw new Error(`There is no policy "${name}".`);
  // The engine adds its own function to every action.
  const action = Object.fromEntries(
    Object.entries(engineAction).filter(([key]) => key !== 'getCommonAuthCallback'),
  );
  const policy = buildPolicy(action);
  return async function runPolicy(request, response, next) {
    try {
      await policy(request, response, next);
    } catch (error) {
      answerFailure(request, response, error);
    }
  };
}

function current(): Prepared {
  if (prepared === undefined) throw new Error('`prepare` must be called before the engine runs.');
  return prepared;
}
