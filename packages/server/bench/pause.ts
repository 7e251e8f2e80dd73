/**
 * Loaded before the bench of either side of a comparison (`node --import`): after each line that the bench
 * reports, its process asks for the next turn and waits, so that only one side measures at a time. The
 * bench knows nothing of it, so every commit's bench can be paused.
 */
import { readSync, writeSync } from 'node:fs'

/** Asks with a byte and waits for a byte. At the end of the stream the bench continues. */
const TURNS = 3

// The servers and callers that the bench forks must not load this file.
process.execArgv.length = 0

const byte = Buffer.alloc(1)
const { error } = console
console.error = (...line: unknown[]) => {
  error(...line)
  try {
    writeSync(TURNS, byte)
    readSync(TURNS, byte)
  } catch {
    // The comparison has ended.
  }
}
