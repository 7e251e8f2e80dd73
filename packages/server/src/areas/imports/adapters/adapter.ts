/** Exports of other services, as the lines of an import. */
import { lookupTable } from '../../../platform/lookup-table.ts'

/** A line of an import. */
export type Item = { kind: string } & Record<string, unknown>

/** What can't be imported, by what it is. */
export class Unmapped {
  readonly counts = new Map<string, number>()

  add(what: string): void {
    const isNamed = this.counts.has(what) || this.counts.size < MOST_NAMED
    const name = isNamed ? what : 'others'
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1)
  }
}

/** In a broken file, each line would be an entry of its own. */
const MOST_NAMED = 1_000

export type Adapter = (path: string, unmapped: Unmapped) => AsyncGenerator<Item>

/** An id of ours: others allow dots and more in names. Two names that differ in those only get the same id. */
export const idOf = (name: string) =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9_-]/g, '-')
    .slice(0, 100)

/** The first UTF-16 units of a text, but not half of a character: that couldn't be stored. */
export const cut = (text: string, most: number) =>
  text.slice(0, most).replace(/[\ud800-\udbff]$/, '')

/**
 * The items that something is mapped to. What another program wrote can have any shape: if it isn't that of the format,
 * it is listed, and the rest is still imported.
 */
export function* mapped(what: string, unmapped: Unmapped, map: () => Generator<Item>) {
  try {
    yield* map()
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    unmapped.add(`${what} that are not in the format`)
  }
}

/** Without what is undefined, null or empty. */
export const present = <T extends object>(fields: T) =>
  Object.fromEntries(
    Object.entries(fields).filter(
      ([, value]) => value !== undefined && value !== null && value !== '',
    ),
  )

/** A message with files, or with a text. Undefined if it has neither. */
export function contentOf(text: string | undefined, files: object[]): object | undefined {
  if (files.length > 0) {
    return { type: 'file', data: { ...(text && { text }), attachments: files } }
  }
  return text?.trim() ? { type: 'text', data: { text } } : undefined
}

/** Emoji by the names that both services use, as far as they are common. Others stay names, such as `:party:`. */
const EMOJI = lookupTable({
  ...{ '+1': '👍', thumbsup: '👍', '-1': '👎', thumbsdown: '👎', heart: '❤️', smile: '😄' },
  ...{ joy: '😂', tada: '🎉', eyes: '👀', white_check_mark: '✅', pray: '🙏', clap: '👏' },
  ...{ fire: '🔥', rocket: '🚀', wave: '👋', thinking_face: '🤔', thinking: '🤔', ok_hand: '👌' },
})

export const emojiOf = (name: string) => EMOJI[name.split('::')[0] ?? ''] ?? cut(`:${name}:`, 64)
