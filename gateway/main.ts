// Starts the gateway: builds the policies, has the engine run them by the routes, and stops without losing a call.
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { closeServer, listen, type RunningService } from '../kernel/http/server.ts';
import { serveMetrics } from '../kernel/http/metrics-server.ts';
import { runEngine } from './engine/express-gateway.ts';
import type { Prepared } from './engine/express-gateway-plugin.ts';
import { answerFailure, type Refusals } from './send-failure.ts';
import { claimDirectory, type ClaimedDirectory } from './heartbeat/journal-lock.ts';
import { createMetrics } from './observability/metrics.ts';
import { withDefaults, type GatewayOptions } from './options.ts';
import { createParts } from './parts.ts';
import { compilePipelines, policiesOf } from './pipeline.ts';
import type { BuildPolicy } from './policy.ts';
import { loadRoutes, type GatewayRoutes } from './routes.ts';
import { createGatewayServer, type Pipelines } from './server.ts';

export type { GatewayOptions } from './options.ts';

export interface RunningGateway extends RunningService {
  /** `http://host:port` of /metrics; undefined if it is not served. */
  metricsUrl: string | undefined;
  /**
   * Reads gateway.config.yml again and builds new pipelines from it. Running calls finish in the old ones.
   * @returns a function that activates the new pipelines. @throws Error that describes what is invalid in the file.
   */
  prepareReload(): Promise<() => void>;
}

/** @throws Error if gateway.config.yml is invalid, one of its policies does not exist, the port is in use, or the journal cannot be opened. */
export async function start(given: GatewayOptions): Promise<RunningGateway> {
  const options = withDefaults(given);
  const { log } = options;
  const metrics = createMetrics();
  let active: (Pipelines & { routes: GatewayRoutes }) | undefined;
  const current = () => {
    if (active === undefined) throw new Error('The gateway serves no calls before its pipelines are built.');
    return active;
  };
  let isDraining = false;
  const parts = createParts(
    options,
    metrics,
    () => current().routes,
    () => isDraining,
  );
  const policies = policiesOf(parts, (request, response) => current().runCompiled(request, response));
  let metricsServer: RunningService | undefined;
  let journal: ClaimedDirectory | undefined;
  async function release(): Promise<void> {
    await parts.close();
    journal?.release();
    await metricsServer?.close();
  }
  try {
    const build = () => buildPipelines(options.configDirectory, policies, options);
    active = await build();
    const server = createGatewayServer(options, metrics, current);
    await parts.open();
    metricsServer =
      options.metrics &&
      (await serveMetrics(
        [...metrics.metrics, ...parts.gauges, ...options.moreMetrics],
        options.metrics,
        async () => void (await parts.readiness()),
      ));
    if (options.journalDirectory !== undefined) {
      journal = claimDirectory(options.journalDirectory, log);
      parts.journal.persistIn(journal.path);
    }
    const url = await listen(server, options.host, options.port);
    return {
      url,
      metricsUrl: metricsServer?.url,
      async prepareReload() {
        const next = await build();
        return () => void (active = next);
      },
      async close() {
        isDraining = true;
        await pause(options.drainDelayMs);
        await closeServer(server);
        await release();
      },
    };
  } catch (error) {
    await release();
    throw error;
  }
}

/** Builds the pipelines of gateway.config.yml, without affecting the running ones. @throws Error if the file is invalid. */
async function buildPipelines(
  configDirectory: string,
  policies: Readonly<Record<string, BuildPolicy>>,
  refusals: Refusals,
): Promise<Pipelines & { routes: GatewayRoutes }> {
  const routes = loadRoutes(path.join(configDirectory, 'gateway.config.yml'), Object.keys(policies));
  const answer: Prepared['answerFailure'] = (request, response, thrown) =>
    answerFailure(refusals, request, response, thrown);
  const runCompiled = compilePipelines(routes, policies, answer);
  const engine = { policies, gatewayConfig: routes.forEngine, answerFailure: answer };
  return { routes, runCompiled, app: await runEngine(configDirectory, engine) };
}
