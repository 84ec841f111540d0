import test from 'ava';
import { createLog, lineWriter } from './log.ts';

test('a line by lineWriter is the line that pino writes of the same message and fields', (t) => {
  const lines: string[] = [];
  const log = createLog('gateway', 'info', { write: (line) => void lines.push(line) });
  lineWriter(log, 'call "one"')(',"status":200');
  log.info({ status: 200 }, 'call "one"');
  const [own, pinos] = lines.map((line) => line.replace(/(?<="time":")[^"]*/, ''));
  t.is(own, pinos);
  t.regex(own ?? '', /^\{"level":30,"time":"","service":"gateway",.*\}\n$/);
});

test('lines are written of a log of createLog only: of another the destination is not known', (t) => {
  t.throws(() => lineWriter(createLog('gateway', 'info').child({}), 'call'), { message: /not of createLog/ });
});
