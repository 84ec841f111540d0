// Runs the `npx almanac` of the documentation's examples, one after the other in this process: a process for each took
// most of the test's time. Listens on a free port, which it prints; a request holds the directory and the arguments, each terminated
// by NUL, and then standard input. The answer is the output of the command; its status says whether the exit code was 0.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { main } from '../../cli/main.ts';

async function run(request: Buffer): Promise<{ code: number; output: string }> {
  let at = 0;
  const next = (): string => {
    const end = request.indexOf(0, at);
    const word = request.toString('utf8', at, end);
    at = end + 1;
    return word;
  };
  process.chdir(next());
  const words = Array.from({ length: Number(next()) }, next);
  const result = { code: -1, output: '' };
  const out = { write: (text: string) => (result.output += text) };
  const stdin = Readable.from([request.subarray(at)]);
  result.code = await main(words, { env: process.env, stdin, stdout: out, stderr: out });
  return result;
}

let before: Promise<unknown> = Promise.resolve();
const server = createServer((request, response) => {
  const answer = async () => {
    const { code, output } = await run(await buffer(request));
    response.writeHead(code === 0 ? 200 : 500).end(output);
  };
  before = before.then(answer).catch((error: unknown) => response.writeHead(500).end(String(error)));
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
