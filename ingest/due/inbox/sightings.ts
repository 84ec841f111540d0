// Which files are complete: those that have stayed the same from one look into the folder to another, some seconds later.
import { isSame, type WaitingFile } from './folder.ts';

/** A file that was not written to for so long is taken. Whoever writes more slowly renames the file into the folder when it is whole. */
export const stillMs = 10_000;

interface Sighting {
  file: WaitingFile;
  /** When it was seen for the first time, in ms since 1970. */
  firstMs: number;
  /** Since when it has been as it is. */
  sinceMs: number;
}

export class Sightings {
  #byName = new Map<string, Sighting>();

  /** Notes what lies in the folder now, and forgets what does not any more. @returns what is complete, in the same order. */
  note(files: readonly WaitingFile[], nowMs: number): WaitingFile[] {
    const before = this.#byName;
    this.#byName = new Map(
      files.map((file) => {
        const last = before.get(file.name);
        const isStill = last !== undefined && isSame(last.file, file);
        const sighting = { file, firstMs: last?.firstMs ?? nowMs, sinceMs: isStill ? last.sinceMs : nowMs };
        return [file.name, sighting];
      }),
    );
    return files.filter(({ name }) => nowMs - (this.#byName.get(name)?.sinceMs ?? nowMs) >= stillMs);
  }

  /** When the file was seen for the first time, in ms since 1970; undefined: it was not seen yet. */
  firstMs(name: string): number | undefined {
    return this.#byName.get(name)?.firstMs;
  }
}
