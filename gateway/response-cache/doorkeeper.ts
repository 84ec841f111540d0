// Tells which answers were asked for before: only these are kept. Keeping each of many that are asked for once would cost more than it
// saves: their bodies are copied, drive others out, and are left to the garbage collector. A set of hashes of a fixed size, as the
// doorkeeper of TinyLFU (Einziger, Friedman, Manes: TinyLFU, a highly efficient cache admission policy, 2017).

const slots = 65_536;

/** @returns notes a name. Whether it was noted before: yes, unless another one has taken its place; rarely yes for a new one. */
export function createDoorkeeper(): (name: string) => boolean {
  const hashes = new Uint32Array(slots);
  return (name) => {
    const hash = hashOf(name);
    const slot = hash % slots;
    if (hashes[slot] === hash) return true;
    hashes[slot] = hash;
    return false;
  };
}

/** FNV-1a, 32 bits. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
