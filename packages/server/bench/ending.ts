/** Longer than a process takes to end once everything is closed. */
const PATIENCE_MS = 15_000

/**
 * Fails unless the process ends by itself. Says what keeps it alive, such as the timer of an API that the bench
 * didn't close.
 */
export function expectEnd(patienceMs = PATIENCE_MS): void {
  setTimeout(() => {
    const open = process.getActiveResourcesInfo().join(', ')
    console.error(`The bench is done, but something keeps its process alive: ${open}.`)
    process.exit(1)
  }, patienceMs).unref()
}
