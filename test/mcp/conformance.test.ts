// The conformance suite of the protocol against /mcp. expected-failures.yml lists the scenarios that do not pass, each with its reason: nearly all call tools,
// prompts and resources that only a test server has. Fails too if one of those passes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import path from 'node:path';
import test from 'ava';
import { noon, startTestGateway } from '../gateway/recording-upstream.ts';
import { closeServer, listen } from '../../kernel/http/server.ts';
import { projectRoot } from '../../kernel/project.ts';
import { startAccountsService } from '../services/accounts-service.ts';
import { projectPlans, unhurried } from '../services/services.ts';

const program = path.join(projectRoot, 'node_modules/.bin/conformance');

test('the conformance suite passes but for the listed scenarios', async (t) => {
  const accounts = await startAccountsService(noon);
  const gateway = await startTestGateway({ accounts, plans: unhurried(projectPlans()) });
  const { key } = await accounts.newClient('pro');
  // The suite sends no key.
  const keyed = createServer((request, response) => {
    const headers = { ...request.headers, 'x-api-key': key };
    const onward = httpRequest(
      gateway.url + (request.url ?? ''),
      { method: request.method, headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    onward.once('error', () => response.destroy());
    request.pipe(onward);
  });
  const url = await listen(keyed, '127.0.0.1', 0);
  t.teardown(async () => {
    await closeServer(keyed);
    await gateway.close();
    await accounts.close();
  });
  const expected = path.join(import.meta.dirname, 'expected-failures.yml');
  const words = [program, 'server', '--url', `${url}/mcp`, '--expected-failures', expected];
  const run = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  for (const stream of [run.stdout, run.stderr])
    stream.on('data', (text: Buffer) => void (printed += text.toString()));
  const [code] = (await once(run, 'close')) as [number];
  t.is(code, 0, printed);
  t.regex(printed, /✓ dns-rebinding-protection/);
});
