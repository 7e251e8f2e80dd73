import type { Path } from './notification.ts'

const ELLIPSIS = '…'

type Payload = Record<string, unknown>

/** The JSON of payloads and its size: one object often goes to thousands of devices. */
const printed = new WeakMap<Payload, { json: string; size: number }>()

function print(payload: Payload): { json: string; size: number } {
  const known = printed.get(payload)
  if (known) return known
  const json = JSON.stringify(payload)
  const result = { json, size: sizeOf(json) }
  printed.set(payload, result)
  return result
}

/**
 * The payload with at most `limit` bytes of JSON. If it has more, the texts at `trim` are shortened, the longest first.
 * Undefined if that isn't enough.
 */
export function fitted(
  payload: Payload,
  limit: number,
  trim: readonly Path[] = [],
): { payload: Payload; json: string } | undefined {
  const whole = print(payload)
  if (whole.size <= limit) return { payload, json: whole.json }
  let json = whole.json
  const copy = structuredClone(payload)
  const texts = trim.map((path) => textAt(copy, path)).filter((text) => text !== undefined)
  for (let over = sizeOf(json) - limit; over > 0; over = sizeOf(json) - limit) {
    const [longest] = texts.toSorted((a, b) => sizeOf(b.get()) - sizeOf(a.get()))
    const text = longest?.get()
    if (!longest || !text) return undefined
    longest.set(shortened(text, jsonSizeOf(text) - over))
    json = JSON.stringify(copy)
  }
  return { payload: copy, json }
}

const sizeOf = (text: string) => Buffer.byteLength(text)
/** Without the quotes. JSON.stringify escapes halves of surrogate pairs, so the bytes are always valid UTF-8. */
const jsonSizeOf = (text: string) => sizeOf(JSON.stringify(text)) - 2

/** The longest beginning of a text, with an ellipsis, whose JSON has at most this many bytes. Never half a character. */
function shortened(text: string, limit: number): string {
  let room = limit - sizeOf(ELLIPSIS)
  let end = 0
  for (const character of text) {
    room -= jsonSizeOf(character)
    if (room < 0) break
    end += character.length
  }
  return end === 0 ? '' : `${text.slice(0, end)}${ELLIPSIS}`
}

function textAt(root: Record<string, unknown>, path: Path) {
  let parent: unknown = root
  for (const key of path.slice(0, -1))
    parent = (parent as Record<string, unknown> | undefined)?.[key]
  const fields = parent as Record<string, unknown> | undefined
  const last = path.at(-1) ?? ''
  if (typeof fields?.[last] !== 'string') return undefined
  return {
    get: () => fields[last] as string,
    set: (text: string) => {
      fields[last] = text
    },
  }
}
