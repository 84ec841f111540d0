// Preloaded into a measured program: when it ends, it writes into a file how many modules it has loaded, without Node's own.
import { writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

let count = 0;
registerHooks({
  load(url, context, next) {
    if (!url.startsWith('node:')) count += 1;
    return next(url, context);
  },
});
process.on('exit', () => writeFileSync(process.env['BENCH_MODULES_FILE'] ?? '', String(count)));
