/** A secret shorter than this isn't shown at all: four characters would be half of it. */
const SHORTEST_SHOWN = 8

/** What answers show of a secret: its last four characters. Of a key in PEM, those of the key itself. */
export function masked(secret: string): string {
  const body = secret.replace(/-----[^-]*-----/g, '').replace(/\s/g, '')
  return `****${body.length < SHORTEST_SHOWN ? '' : body.slice(-4)}`
}
