// Preloaded into a service: writes, once a second, how late its event loop was in that second into the file LAG_DIRECTORY/<process id>.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';

const directory = process.env['LAG_DIRECTORY'] ?? '';
const resolutionMs = 10;
const delay = monitorEventLoopDelay({ resolution: resolutionMs });
delay.enable();
setInterval(() => {
  // The histogram counts from one look to the next, so an idle loop is at the resolution.
  const lateMs = Math.max(0, delay.percentile(99) / 1e6 - resolutionMs);
  writeFileSync(path.join(directory, String(process.pid)), lateMs.toFixed(1));
  delay.reset();
}, 1_000).unref();
