import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type NewBlock, type Pair, refuseBlock, refuseFriend } from './policy.ts'

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

const BLOCK: NewBlock = {
  ...{ uid: 'ben', limit: 1, self: false, active: true, already: false, full: false },
}

const BLOCKS: [Partial<NewBlock>, string | undefined][] = [
  [{ self: true, active: false, already: true, full: true }, 'ERR_CANNOT_BLOCK_SELF'],
  [{ active: false, already: true, full: true }, 'ERR_UID_NOT_FOUND'],
  [{ already: true, full: true }, undefined],
  [{ full: true }, 'ERR_PLAN_QUOTA_RESTRICTION'],
  [{}, undefined],
]

suite('whom a user may block', () => {
  for (const [faults, code] of BLOCKS) {
    test(`${Object.keys(faults)[0] ?? 'nothing in the way'}: ${code ?? 'allowed'}`, () => {
      assert.equal(refuseBlock({ ...BLOCK, ...faults })?.code, code)
    })
  }
})
