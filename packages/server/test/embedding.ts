/**
 * Embeddings that carry some meaning without a model: words that mean the same count as one word, and forms of a word share
 * most of their groups of letters.
 */
import { createHash } from 'node:crypto'

const DIMENSIONS = 384

/** Words in a row mean the same. */
const SAME = [
  'delete remove erase wipe drop purge',
  'create add new make build',
  'change update edit modify alter',
  'picture image photo thumbnail icon',
  'file upload attachment document',
  'error failure fault problem refuse',
  'crash die kill loss lost outage down',
  'machine host server computer',
  'person user people member somebody',
  'device phone client browser',
  'email mail',
  'money cost price spend budget',
  'speed fast latency time',
  'limit quota ceiling maximum most',
  'permission right access allow deny',
  'secret key password token credential',
  'begin start open launch',
  'stop end close finish cancel',
  'bicycle bike cycle',
  'car vehicle auto',
  'swim pool bath',
]
const MEANINGS = new Map(
  SAME.flatMap((row) => row.split(' ').map((word, _, [first = '']) => [word, first] as const)),
)

const COMMON = new Set(
  'a an and are as at be by can do does for from has have how i if in is it its my no not of on or our own should so than that the their them there they this to was we what when where which who why will with you your'.split(
    ' ',
  ),
)

/** The meaning of a word, in any form. */
function meaningOf(word: string): string {
  for (const form of [word, word.replace(/(es|s|d|ed|ing)$/, ''), word.replace(/s$/, '')]) {
    const known = MEANINGS.get(form)
    if (known !== undefined) return known
  }
  return word
}

function add(vector: number[], what: string, weight: number): void {
  const hash = createHash('md5').update(what).digest()
  const at = hash.readUInt32LE(0) % DIMENSIONS
  vector[at] = (vector[at] ?? 0) + ((hash[4] ?? 0) % 2 === 0 ? weight : -weight)
}

export function embedding(text: string): number[] {
  const vector = new Array<number>(DIMENSIONS).fill(0)
  const counts = new Map<string, number>()
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    if (COMMON.has(word)) continue
    const meaning = meaningOf(word)
    counts.set(meaning, (counts.get(meaning) ?? 0) + 1)
  }
  for (const [word, count] of counts) {
    const weight = 1 + Math.log(count)
    add(vector, word, weight)
    const letters = `^${word}$`
    for (let at = 0; at + 4 <= letters.length; at++)
      add(vector, `4:${letters.slice(at, at + 4)}`, weight / Math.sqrt(letters.length))
  }
  // No provider returns zeros only.
  if (counts.size === 0) vector[0] = 1
  return vector
}
