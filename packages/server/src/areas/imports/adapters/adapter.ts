/** Exports of other services, as the lines of an import. */

/** A line of an import. */
export type Item = { kind: string } & Record<string, unknown>

/** What can't be imported, by what it is. */
export class Unmapped {
  readonly counts = new Map<string, number>()

  add(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1)
  }
}

export type Adapter = (path: string, unmapped: Unmapped) => AsyncGenerator<Item>

/** An id of ours: others allow dots and more in names. Two names that differ in those only get the same id. */
export const idOf = (name: string) =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9_-]/g, '-')
    .slice(0, 100)

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
const EMOJI: Record<string, string> = {
  ...{ '+1': '👍', thumbsup: '👍', '-1': '👎', thumbsdown: '👎', heart: '❤️', smile: '😄' },
  ...{ joy: '😂', tada: '🎉', eyes: '👀', white_check_mark: '✅', pray: '🙏', clap: '👏' },
  ...{ fire: '🔥', rocket: '🚀', wave: '👋', thinking_face: '🤔', thinking: '🤔', ok_hand: '👌' },
}

export const emojiOf = (name: string) =>
  EMOJI[name.split('::')[0] ?? ''] ?? `:${name}:`.slice(0, 64)
