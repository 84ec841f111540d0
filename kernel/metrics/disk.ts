// The free disk space of the directories that a process writes to.
import { statfs } from 'node:fs/promises';
import type { Log } from '../log/log.ts';
import { askedFigures } from './figures.ts';
import type { Metric } from './text.ts';

/** @param directories purpose → path. A directory that does not exist yet has no metric. */
export function diskMetrics(directories: Readonly<Record<string, string>>, log: Log): Metric[] {
  return Object.entries(directories).flatMap(([directory, path]) => {
    const ask = () =>
      statfs(path).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return undefined;
        throw error;
      });
    const figures = askedFigures(`the space of ${path}`, ask, log);
    const labels = { directory };
    return [
      figures.metric(
        { name: 'almanac_disk_free_bytes', help: 'Free space of the disk of a directory.' },
        (space) => (space === undefined ? [] : [{ labels, value: space.bavail * space.bsize }]),
      ),
      figures.metric(
        { name: 'almanac_disk_size_bytes', help: 'Size of the disk of a directory.' },
        (space) => (space === undefined ? [] : [{ labels, value: space.blocks * space.bsize }]),
      ),
    ];
  });
}
