// Reports how long the public URL's certificate is valid, as a client sees it. Checked once an hour.
import { connect } from 'node:tls';
import type { Log } from '../log/log.ts';
import { askedFigures } from './figures.ts';
import type { Metric } from './text.ts';

const askEveryMs = 60 * 60_000;
const connectWithinMs = 5_000;

/** @param publicUrl without https there is no metric; it is also absent while the URL cannot be reached from here. */
export function certificateMetrics(publicUrl: string, log: Log): Metric[] {
  const url = new URL(publicUrl);
  if (url.protocol !== 'https:') return [];
  let seen: { untilMs: number; askedAtMs: number } | undefined;
  async function ask(): Promise<number> {
    if (seen === undefined || performance.now() - seen.askedAtMs > askEveryMs) {
      seen = { untilMs: await certificateEnd(url), askedAtMs: performance.now() };
    }
    return seen.untilMs;
  }
  const figures = askedFigures('the certificate of PUBLIC_URL', ask, log);
  return [
    figures.metric(
      {
        name: 'almanac_public_certificate_expires_seconds',
        help: 'Until the certificate of PUBLIC_URL expires; negative once it has.',
      },
      (untilMs) => [{ value: (untilMs - Date.now()) / 1000 }],
    ),
  ];
}

/** @returns when the server's certificate expires, in ms since 1970. @throws Error if it has none. */
export function certificateEnd({ hostname, port }: URL): Promise<number> {
  return new Promise((resolve, reject) => {
    // An expired or untrusted certificate is reported too. Nothing is sent.
    const socket = connect({
      host: hostname.replace(/^\[|\]$/g, ''),
      port: Number(port) || 443,
      servername: /^[\d.]+$|:/.test(hostname) ? '' : hostname,
      rejectUnauthorized: false,
    });
    socket.setTimeout(connectWithinMs, () => socket.destroy(new Error(`${hostname} does not answer`)));
    socket.once('error', reject);
    socket.once('secureConnect', () => {
      resolve(Date.parse(socket.getPeerCertificate().valid_to));
      socket.destroy();
    });
  });
}
