import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type Pair, refuseFriend } from './policy.ts'

const PAIR: Pair = {
  uid: 'ben',
  limit: 1,
  self: false,
  active: true,
  blocked: false,
  already: false,
  closed: false,
  full: false,
}

/** In the order of precedence: each also has every later fault. */
const TABLE: [Partial<Pair>, string | undefined][] = [
  [
    { self: true, active: false, blocked: true, already: true, closed: true, full: true },
    'ERR_CANNOT_FORM_SELF_RELATION',
  ],
  [{ active: false, blocked: true, already: true, closed: true, full: true }, 'ERR_UID_NOT_FOUND'],
  [{ blocked: true, already: true, closed: true, full: true }, 'ERR_BLOCKED_SENDER'],
  [{ already: true, closed: true, full: true }, 'ERR_ALREADY_FRIEND'],
  [{ closed: true, full: true }, 'ERR_PERMISSION_DENIED'],
  [{ full: true }, 'ERR_PLAN_QUOTA_RESTRICTION'],
  [{}, undefined],
]

suite('who may become friends', () => {
  for (const [faults, code] of TABLE) {
    test(`${Object.keys(faults)[0] ?? 'nothing in the way'}: ${code ?? 'allowed'}`, () => {
      assert.equal(refuseFriend({ ...PAIR, ...faults })?.code, code)
    })
  }
})
