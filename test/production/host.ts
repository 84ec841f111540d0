// A process that runs one service after another, each as `almanac start <service>` starts it, with its own settings. This saves starting
// Node and loading the modules each time, which is most of the duration of a start. Names are resolved without a network and
// passwords are cheap, as in the services that other tests start; Redis has more time. test/production/pool.ts sends the orders; SIGTERM
// stops the service.
import { flushCompileCache } from 'node:module';
import { defaultCost } from '../../accounts-api/auth/passwords.ts';
import { main } from '../../cli/main.ts';
import { resolveDefaults } from '../../kernel/outbound/address-guard.ts';
import { redisDefaults } from '../../kernel/redis.ts';
import { testPasswordCost } from '../services/sign-in.ts';
import { clockDefaults } from '../../kernel/time/database-clock.ts';
import { resolveTestName } from '../webhooks/settings.ts';

/** The command to run, and its settings. */
export interface Order {
  words: string[];
  env: Record<string, string>;
}

/** The output of the service, and at its end the exit code. */
export type Reported = { printed: string } | { code: number };

Object.assign(defaultCost, testPasswordCost);
Object.assign(clockDefaults, { source: 'machine' }); // which is set to that of the test, in place of PostgreSQL's
Object.assign(redisDefaults, { deadlineMs: 10_000 }); // behaviour without Redis is tested elsewhere
Object.assign(resolveDefaults, { resolve: resolveTestName });

const report = (reported: Reported): void => void process.send?.(reported);
const output = { write: (printed: string) => report({ printed }) };

process.on('message', ({ words, env }: Order) => {
  const terminal = { env, stdin: process.stdin, stdout: output, stderr: output, started: flushCompileCache };
  void main(words, terminal).then((code) => report({ code }));
});
process.on('disconnect', () => process.exit(1)); // the run is over
