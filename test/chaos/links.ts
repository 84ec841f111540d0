// The TCP connections from one service to those that it calls. The chaos run can break or silence them while both ends work and reach all
// others. Hides that bytes are passed on with backpressure, and an end only after them: nothing but a fault may fail a call.
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface Link {
  readonly url: string;
  /** Breaks every connection, and each that is opened from now on. */
  cut(): void;
  /** Data that the service sends is held back: it does its work, but its answers do not arrive. */
  pauseReplies(): void;
  /**
   * Every connection stays half-open, as after a crash of a machine or a firewall: neither end receives anything from the other, not even
   * its close. Connections that are opened later work.
   */
  loseAll(): void;
  /** Everything works again, and held data arrives. Lost data stays lost. */
  restore(): void;
}

/** The ways of one service. */
export class ServiceLinks {
  readonly all: Link[] = [];
  /** To data-apis. */
  readonly data: Link[] = [];
  readonly #hasLinks: boolean;

  /** @param hasLinks false: only the ways to data-apis are links. */
  constructor(hasLinks: boolean) {
    this.#hasLinks = hasLinks;
  }

  /** @returns the URL at which the service reaches the given one. */
  async to(url: string): Promise<string> {
    return this.#hasLinks ? (await this.#link(url)).through : url;
  }

  async toData(url: string): Promise<string> {
    const { link, through } = await this.#link(url);
    this.data.push(link);
    return through;
  }

  async #link(url: string): Promise<{ link: Link; through: string }> {
    const link = await startLink(url);
    this.all.push(link);
    const through = new URL(url);
    through.port = new URL(link.url).port;
    return { link, through: url.endsWith('/') ? through.href : through.href.replace(/\/$/, '') };
  }
}

/** @param url of the service. */
export async function startLink(url: string): Promise<Link> {
  const pairs = new Set<{ client: Socket; service: Socket }>();
  const target = Number(new URL(url).port);
  let isCut = false;
  let areRepliesPaused = false;
  const server = createServer((client) => {
    client.setNoDelay(true).on('error', () => client.destroy());
    if (isCut) {
      client.destroy();
      return;
    }
    const service = connect(target, '127.0.0.1').setNoDelay(true);
    service.on('error', () => service.destroy());
    const pair = { client, service };
    pairs.add(pair);
    client.pipe(service);
    if (!areRepliesPaused) service.pipe(client);
    // After a forwarded end, the other side closes too; without one, the connection was broken.
    client.once('close', () => !pairs.has(pair) || client.readableEnded || service.destroy());
    service.once('close', () => {
      if (pairs.delete(pair) && !service.readableEnded) client.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut() {
      isCut = true;
      for (const { client, service } of pairs) {
        client.destroy();
        service.destroy();
      }
    },
    pauseReplies() {
      areRepliesPaused = true;
      for (const { client, service } of pairs) service.unpipe(client).pause();
    },
    loseAll() {
      for (const { client, service } of pairs) {
        service.unpipe(client).pause().unref(); // nobody may wait for their end, nor this process
        client.unpipe(service).pause().unref();
      }
      pairs.clear();
    },
    restore() {
      if (areRepliesPaused) for (const { client, service } of pairs) service.pipe(client);
      [isCut, areRepliesPaused] = [false, false];
    },
  };
}
