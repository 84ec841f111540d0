// Runs express-gateway in this process and returns its app. Hides the engine's own configuration.
// A process may run it several times: each run resets the engine's state, and keeps only its app.
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
// Imported before the engine does, which would report an error in its plugin as a missing module.
import { prepare, type EngineApp, type Prepared } from './plugin.ts';
import { answerAsOurs } from '../response.ts';

const require = createRequire(import.meta.url);
// Half of the engine's modules, with this one: they hold up no service that runs beside the gateway in its process.
const expressGateway = atLevelError(() => require('express-gateway') as ExpressGateway);

/**
 * @param configDirectory with gateway.config.yml, system.config.yml and models/, which the engine itself validates;
 * it then runs `prepared`.
 * @throws Error if a policy of the file does not exist or rejects its action.
 */
export async function runEngine(
  configDirectory: string,
  prepared: Omit<Prepared, 'onApp'>,
): Promise<EngineApp> {
  process.env['EG_DISABLE_CONFIG_WATCH'] = '1'; // main.ts reloads gateway.config.yml; the engine would end the process if it is invalid
  process.env['EG_ALMANAC_PLUGIN'] = fileURLToPath(new URL('./plugin.ts', import.meta.url)); // as system.config.yml names it
  const engine = expressGateway().load(configDirectory);
  let app: EngineApp | undefined;
  // No other code runs before the engine's first await, so it builds what is prepared here.
  prepare({
    ...prepared,
    onApp(built) {
      answerAsOurs(built);
      app = built;
    },
  });
  await engine.run();
  if (app === undefined) throw new Error('express-gateway did not load gateway/engine/plugin.ts.');
  return app;
}

/** The engine logs coloured text to stdout, not our JSON, at the level that it finds when it is loaded; it also throws its errors. */
function atLevelError<T>(load: () => T): T {
  const { LOG_LEVEL: level } = process.env;
  process.env['LOG_LEVEL'] = 'error';
  try {
    return load();
  } finally {
    if (level === undefined) delete process.env['LOG_LEVEL'];
    else process.env['LOG_LEVEL'] = level;
  }
}

type ExpressGateway = () => { load(configDirectory: string): { run(): Promise<unknown> } };
