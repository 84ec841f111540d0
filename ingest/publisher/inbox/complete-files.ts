// Decides which files are complete: those unchanged between two scans of the folder some seconds apart.
import { isSame, type WaitingFile } from './folder.ts';

/** A file is complete once it has not been written to for this long. Slower writers should rename the finished file into the folder. */
export const stillMs = 10_000;

interface Sighting {
  file: WaitingFile;
  /** When it was first seen, in ms since 1970. */
  firstMs: number;
  /** Since when it is unchanged. */
  sinceMs: number;
}

export class Sightings {
  #byName = new Map<string, Sighting>();

  /** Records the present files, and forgets the others. @returns the complete files, in the same order. */
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

  /** When the file was first seen, in ms since 1970; undefined if it was not seen yet. */
  firstMs(name: string): number | undefined {
    return this.#byName.get(name)?.firstMs;
  }
}
