// When work is done: the writes of one turn of the event loop at its end, one after another; what nobody waits for some turns later.
// A write wakes its peer, and waking a peer that has gone to sleep since the last write costs more than the write itself:
// a ninth of a gateway's time (2026-11-21). Back-to-back writes keep the peer from sleeping.
import type { ServerResponse } from 'node:http';

let waiting: (() => void)[] = [];

/** Runs the work after all input received so far has been handled, in the order of the calls. It must not throw. */
export function atEndOfTurn(work: () => void): void {
  if (waiting.length === 0) setImmediate(run);
  waiting.push(work);
}

let spare: (() => void)[] = [];
let isDoneAtExit = false;

/**
 * Runs work that nobody waits for, such as the log, after some turns of the event loop. A gateway under load has then asked Redis about the
 * calls that were read meanwhile, and would only wait for the answer. It is done at the latest when the process exits. It must not throw.
 */
export function inSpareTime(work: () => void): void {
  if (!isDoneAtExit) process.prependListener('exit', doSpareWork); // before the log writes what it has gathered
  isDoneAtExit = true;
  // One turn reads the next calls, one gathers the question about them, one sends it.
  if (spare.length === 0) setImmediate(() => setImmediate(() => setImmediate(doSpareWork)));
  spare.push(work);
}

function doSpareWork(): void {
  const all = spare;
  spare = [];
  for (const work of all) work();
}

// The waiting bytes are copied into one buffer, reused in each turn: allocating and freeing a buffer for each answer, and
// having the kernel clear it, took a twentieth of a gateway's time.
const memoryBytes = 1024 * 1024;
let memory = Buffer.allocUnsafeSlow(memoryBytes);
let usedBytes = 0;
let isHeld = false;

/** Ends the response with these bytes after all input received so far has been handled. They are valid only during the call. */
export function endAtEndOfTurn(response: ServerResponse, bytes: Buffer): void {
  const kept = keep(bytes);
  atEndOfTurn(() => {
    if (response.destroyed) return; // the client has left
    response.end(kept);
    if (response.writableLength > 0) isHeld = true; // the kernel did not accept all of it, or an earlier answer goes first
  });
}

function keep(bytes: Buffer): Buffer {
  const end = usedBytes + bytes.length;
  if (end > memoryBytes) return Buffer.from(bytes);
  bytes.copy(memory, usedBytes);
  const kept = memory.subarray(usedBytes, end);
  usedBytes = end;
  return kept;
}

function run(): void {
  const all = waiting;
  waiting = [];
  for (const work of all) work();
  // Responses that still write from the old buffer keep it.
  if (isHeld || waiting.length > 0) memory = Buffer.allocUnsafeSlow(memoryBytes);
  isHeld = false;
  usedBytes = 0;
}
