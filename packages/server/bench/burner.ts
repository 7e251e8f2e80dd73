/** Uses a share of a core until its parent ends it. */
const SPIN_MS = 1

process.once('message', (share: number) => {
  const started = performance.now()
  const before = process.cpuUsage()
  const burn = () => {
    const { user, system } = process.cpuUsage(before)
    const behind = (performance.now() - started) * share - (user + system) / 1000
    if (behind <= 0) return setTimeout(burn, 1)
    const until = performance.now() + SPIN_MS
    while (performance.now() < until);
    return setImmediate(burn)
  }
  burn()
})
