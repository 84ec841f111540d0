// An SMTP server on a real socket that replies by a script.
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { createInterface } from 'node:readline';

/** The stages at which a script can reply: a command, or the dot that ends an e-mail. */
export type Stage = 'MAIL' | 'RCPT' | 'DATA' | '.';

const usual: Record<string, string> = {
  ...{ EHLO: '250 here', MAIL: '250 ok', RCPT: '250 ok', DATA: '354 go on', '.': '250 taken' },
  ...{ RSET: '250 ok', QUIT: '221 bye' },
};

export interface ScriptedSmtp {
  smtpUrl: string;
  /** The received commands, and the dots. */
  received: string[];
  close(): Promise<void>;
}

/** @param replyTo the reply at a stage; undefined: that of a server that accepts every e-mail. */
export async function startScriptedSmtp(
  replyTo: (stage: Stage) => string | undefined,
): Promise<ScriptedSmtp> {
  const received: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.write('220 scripted\r\n');
    let inMail = false;
    createInterface(socket).on('line', (line) => {
      if (inMail && line !== '.') return;
      const stage = inMail ? '.' : line.slice(0, 4).toUpperCase();
      received.push(stage);
      const reply = replyTo(stage as Stage) ?? usual[stage] ?? '500 what';
      inMail = stage === 'DATA' && reply.startsWith('354');
      socket.write(`${reply}\r\n`);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    smtpUrl: `smtp://127.0.0.1:${port}`,
    received,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
