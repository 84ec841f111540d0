// The health check of an image: exit code 0 if the URL given answers 2xx within two seconds. Without one: the gateway's /healthz.
import { get } from 'node:http';

const [url = 'http://127.0.0.1:8080/healthz'] = process.argv.slice(2);
const timeoutMs = 2_000;

const request = get(url, { signal: AbortSignal.timeout(timeoutMs) }, (response) => {
  const { statusCode = 0 } = response;
  if (statusCode < 200 || statusCode > 299) process.exitCode = 1;
  response.resume();
});
request.on('error', (error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
