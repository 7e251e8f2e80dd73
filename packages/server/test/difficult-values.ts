/** Values that often break programs. */
import { createHash } from 'node:crypto'
import fc from 'fast-check'

/** Lengths above every field's limit, but below the limit of a body. */
const LONG = [101, 256, 1_025, 5_121, 9_000]

const trickyTexts = [
  '',
  ' ',
  '\u00a0\t\r\n',
  '\ufffe\uffff',
  '😀'.repeat(60),
  '👨‍👩‍👧‍👦'.repeat(51),
  '\u202eevil\u202c',
  'مفتاح \u200f',
  `z${'\u0301'.repeat(200)}`,
  'ﬀ İ ı ẞ',
  'NaN',
  'Infinity',
  '-0',
  '0x10',
  '1e9',
  '1.5',
  '٣',
  '9'.repeat(15),
  '9'.repeat(40),
  '-1',
  '0',
  'null',
  'undefined',
  'true',
  '[object Object]',
  '__proto__',
  'constructor',
  'toString',
  '../../etc/passwd',
  "'; drop table api_keys; --",
  '%00',
  '%',
  '\\',
  '{"a":1}',
  'a,b,,c',
]

/** Incompressible text of characters that ids may have: an index entry may have 2,700 bytes at most. */
const noise = fc
  .tuple(fc.nat(), fc.constantFrom(101, 1_025, 3_000, 9_000))
  .map(([seed, length]) =>
    createHash('shake256', { outputLength: length })
      .update(String(seed))
      .digest('base64url')
      .slice(0, length),
  )

/** PostgreSQL can't store any of these. */
const unstorable = fc.constantFrom('\u0000', 'a\u0000b', '\ud83d', '\ude00a')

/**
 * Any character. fast-check's own unit `binary` prepares for shrinking texts that it didn't make, which takes a second
 * in every process.
 */
export const character = fc
  .oneof(fc.integer({ min: 0, max: 0x7f }), fc.integer({ min: 0, max: 0x10ffff }))
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code))

export const text = fc.oneof(
  fc.constantFrom(...trickyTexts),
  unstorable,
  noise,
  fc.tuple(fc.constantFrom('x', 'é', '語', '😀'), fc.constantFrom(...LONG)).map(fill),
  fc.string({ unit: character, maxLength: 20 }),
)

function fill([char, length]: [string, number]): string {
  return char.repeat(length / Buffer.byteLength(char))
}

const number = fc.constantFrom(0, -0, -1, 1.5, 1e21, 1e308, 2 ** 31, 2 ** 53, -(2 ** 63), 1e-320)

const deep = fc.constantFrom(10, 200, 1_500).map((depth) => {
  let value: unknown = []
  for (let level = 1; level < depth; level++) value = level % 2 ? { a: value } : [value]
  return value
})

/** Any JSON value, or `undefined` for none. */
export const json: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: text },
  { weight: 2, arbitrary: number },
  { weight: 3, arbitrary: fc.constantFrom<unknown[]>(undefined, null, true, false, [], {}) },
  { weight: 1, arbitrary: fc.constantFrom<unknown[]>(['authOnly'], [null], { toString: 1 }) },
  { weight: 1, arbitrary: text.map((inner) => ({ [inner]: [inner] })) },
  { weight: 1, arbitrary: deep },
  { weight: 1, arbitrary: fc.jsonValue() },
)

/** Escapes that are invalid, decode to no character, or are needless. */
const oddEscape = fc.constantFrom(
  ...['%', '%2', '%zz', '%00', '%C3', '%E0%A4%A', '%ED%A0%80', '%F5%80%80%80', '%FF', '%u0041'],
  ...['%2F', '%2e%2e', '%25', '%3F', '%23', '%61', '+', ';', '.', '..', '*', ':', '%0d%0aa:b'],
)

/** A part of a URL: text with valid escapes, or escapes that no library would write. */
export const escaped = fc.oneof(
  text.map((given) => encodeURIComponent(given.toWellFormed())),
  oddEscape,
  fc.array(oddEscape, { minLength: 2, maxLength: 5 }).map((parts) => parts.join('a')),
)

/** Any value that a header can have on the wire. */
export const headerValue = fc.oneof(
  fc.constantFrom('', ' ', 'x', ',', ';', '"', '%00', '{}', '[object Object]', 'null', '\u00ff'),
  fc.constantFrom(129, 256, 4_000, 12_000).map((length) => 'x'.repeat(length)),
  noise,
  fc.string({
    unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)),
  }),
)
