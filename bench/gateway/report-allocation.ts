// Preloaded into a measured program: on SIGUSR2 it writes into a file how many bytes V8 has allocated on its heap since the start.
import { renameSync, writeFileSync } from 'node:fs';
import { getHeapStatistics } from 'node:v8';

const file = process.env['BENCH_ALLOCATION_FILE'] ?? '';

process.on('SIGUSR2', () => {
  const { total_allocated_bytes: bytes } = getHeapStatistics() as ReturnType<typeof getHeapStatistics> & {
    total_allocated_bytes: number;
  };
  writeFileSync(`${file}.new`, String(bytes));
  renameSync(`${file}.new`, file); // so that a reader finds it complete
});
