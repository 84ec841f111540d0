// Runs express-gateway in this process and returns its app. Hides the engine's own configuration.
// A process may run it several times: each run resets the engine's state, and keeps only its app.
import type { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
// Imported here, before the engine does: it would report a fault in its plugin as a module that cannot be found.
import { prepare, type EngineApp, type Prepared } from './plugin.ts';

/**
 * @param configDirectory with gateway.config.yml, system.config.yml and models/, which the engine checks for itself;
 * what it then runs is `prepared`.
 * @throws Error where a policy of the file does not exist or refuses its action.
 */
export async function runEngine(
  configDirectory: string,
  prepared: Omit<Prepared, 'onApp'>,
): Promise<EngineApp> {
  process.env['EG_DISABLE_CONFIG_WATCH'] = '1'; // gateway.config.yml is read again by main.ts: here a bad one would end the process
  const require = createRequire(import.meta.url);
  const loggers = require('express-gateway/lib/logger') as Record<string, { level: string }>;
  // Its lines are coloured text on stdout, not our JSON; what goes wrong it throws as well.
  for (const logger of Object.values(loggers)) logger.level = 'error';
  const expressGateway = require('express-gateway') as ExpressGateway;
  const engine = expressGateway().load(configDirectory);
  let app: EngineApp | undefined;
  // From here to the engine's first await nothing else runs, so what is prepared is what is built.
  prepare({ ...prepared, onApp: (built) => void (app = built) });
  await engine.run();
  // Each run would listen for the reloads of the engine's own watcher, which is off, and so hold its app for ever.
  (require('express-gateway/lib/eventBus') as EventEmitter).removeAllListeners('hot-reload');
  if (app === undefined) throw new Error('express-gateway did not load gateway/plugin.ts.');
  return app;
}

type ExpressGateway = () => { load(configDirectory: string): { run(): Promise<unknown> } };
