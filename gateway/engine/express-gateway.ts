// Runs express-gateway in this process and returns its app.
// A process may run it several times: each run resets the engine's state and keeps only its app.
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
// Imported before the engine does, which would report an error in its plugin as a missing module.
import { prepare, type EngineApp, type Prepared } from './express-gateway-plugin.ts';
import { answerAsOurs } from '../response-headers.ts';

const require = createRequire(import.meta.url);
// Half of the engine's modules load with this import, so that they do not delay a service that runs in the same process.
const expressGateway = atLevelError(() => require('express-gateway') as ExpressGateway);

/**
 * @param configDirectory holds gateway.config.yml, system.config.yml and models/. The engine validates them, then runs `prepared`.
 * @throws Error if a policy of the file does not exist or rejects its action.
 */
export async function runEngine(
  configDirectory: string,
  prepared: Omit<Prepared, 'onApp'>,
): Promise<EngineApp> {
  process.env['EG_DISABLE_CONFIG_WATCH'] = '1'; // main.ts reloads gateway.config.yml; the engine would exit on an invalid file
  process.env['EG_ALMANAC_PLUGIN'] = fileURLToPath(new URL('./express-gateway-plugin.ts', import.meta.url)); // as system.config.yml names it
  const engine = expressGateway().load(configDirectory);
  let app: EngineApp | undefined;
  // No other code runs before the engine's first await, so the engine builds what is prepared here.
  prepare({
    ...prepared,
    onApp(built) {
      answerAsOurs(built);
      app = built;
    },
  });
  await engine.run();
  if (app === undefined)
    throw new Error('express-gateway did not load gateway/engine/express-gateway-plugin.ts.');
  return app;
}

/** The engine logs coloured text instead of JSON, at the level set when it is loaded. It is loaded at level error; it also throws its errors. */
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
