import { performance } from 'node:perf_hooks'

/** The share of its time that a busy process works. */
const BUSY = 1 / 2
/** Measured over at least so long: a shorter time could see nothing but one long answer. */
const SPAN_MS = 100

/** Watches whether this process has hardly any time left: one thread answers all apps. */
export function watchBusyness(): () => boolean {
  let since = performance.eventLoopUtilization()
  let at = performance.now()
  let busy = false
  return () => {
    const now = performance.now()
    if (now - at < SPAN_MS) return busy
    const until = performance.eventLoopUtilization()
    busy = performance.eventLoopUtilization(until, since).utilization > BUSY
    since = until
    at = now
    return busy
  }
}
