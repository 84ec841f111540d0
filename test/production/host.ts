// A process in which one service runs after the other, each as `almanac start <service>` starts it, with settings of its own. Hides from
// them that nobody starts Node and loads the modules anew, which is most of what a start takes. Names are resolved without a network and
// passwords are cheap, as in the services that other tests start; Redis has more time. test/production/pool.ts gives the orders; SIGTERM
// stops the service.
import { flushCompileCache } from 'node:module';
import { defaultCost } from '../../accounts-api/auth/passwords.ts';
import { main } from '../../cli/main.ts';
import { resolveDefaults } from '../../kernel/outbound/address-guard.ts';
import { redisDefaults } from '../../kernel/redis.ts';
import { testPasswordCost } from '../services/sign-in.ts';
import { clockDefaults } from '../../kernel/time/database-clock.ts';
import { resolveTestName } from '../webhooks/settings.ts';

/** What to run, and with which settings. */
export interface Order {
  words: string[];
  env: Record<string, string>;
}

/** What the service prints, and at its end the exit code. */
export type Reported = { printed: string } | { code: number };

Object.assign(defaultCost, testPasswordCost);
Object.assign(clockDefaults, { source: 'machine' }); // which is set to that of the test, in place of PostgreSQL's
Object.assign(redisDefaults, { deadlineMs: 10_000 }); // what happens without Redis is tried elsewhere
Object.assign(resolveDefaults, { resolve: resolveTestName });

const report = (reported: Reported): void => void process.send?.(reported);
const output = { write: (printed: string) => report({ printed }) };

process.on('message', ({ words, env }: Order) => {
  const terminal = { env, stdin: process.stdin, stdout: output, stderr: output, started: flushCompileCache };
  void main(words, terminal).then((code) => report({ code }));
});
process.on('disconnect', () => process.exit(1)); // the run is over
