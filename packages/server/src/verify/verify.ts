import type { Cell } from '../platform/cells/directory.ts'
import { checks } from './checks.ts'
import type { Check } from './heads.ts'

export interface Difference {
  what: string
  id: string
  stored: string
  counted: string
}

/** The most differences that each check reports. */
const MAX_DIFFERENCES = 20

/**
 * Checks an app's counters, order, marks and totals. All checks share one snapshot, so you can run this while the
 * app is in use.
 */
export function verify(
  { db }: Cell,
  appNo: number,
  onCheck: (check: Check, nth: number) => void = () => {},
): Promise<Difference[]> {
  return db.tx(async (tx) => {
    const run = (label: string, text: string, values: unknown[] = []) =>
      tx.query<{ id: unknown; stored: unknown; counted: unknown }>({
        name: '',
        label,
        text,
        values,
      })
    await run('verify.begin', 'set transaction isolation level repeatable read, read only')
    const differences: Difference[] = []
    for (const [nth, check] of checks.entries()) {
      onCheck(check, nth)
      const text = `select * from (${check.sql}) differing limit ${MAX_DIFFERENCES}`
      for (const { id, stored, counted } of (await run('verify.check', text, [appNo])).rows) {
        const { what } = check
        differences.push({ what, id: `${id}`, stored: `${stored}`, counted: `${counted}` })
      }
    }
    return differences
  })
}
