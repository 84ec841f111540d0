// Bare node:http as a measured server, the minimum for Node: `bare.ts <file>` answers every call with the `headers` and the `body` of that JSON file.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { closeServer, listen } from '../../kernel/http/server.ts';
import { serveMeasured } from '../instruments/server.ts';

const [file = ''] = process.argv.slice(2);
const answer = JSON.parse(readFileSync(file, 'utf8')) as { headers: Record<string, string>; body: string };
const body = Buffer.from(answer.body);
const server = createServer((_request, response) => {
  response.writeHead(200, answer.headers);
  response.end(body);
});
serveMeasured(await listen(server, '127.0.0.1', 0), () => closeServer(server));
