/** Texts for phones. */

const CHARACTERS = 160
/** An SMS about messages says little; the rest is in the app. */
const MOST_PARTS = 5

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })

/**
 * A text in messages of at most 160 characters, cut at a space if there is one in the second half, and never within
 * an emoji. Longer texts end after five messages.
 */
export function partsOf(text: string): string[] {
  const parts: string[] = []
  let rest = text.trim()
  while (rest !== '' && parts.length < MOST_PARTS) {
    const end = rest.length <= CHARACTERS ? rest.length : endOf(rest)
    parts.push(rest.slice(0, end).trimEnd())
    rest = rest.slice(end).trimStart()
  }
  const last = parts.at(-1)
  if (rest !== '' && last) {
    parts[parts.length - 1] =
      `${last.slice(0, last.length < CHARACTERS ? undefined : endOf(last, CHARACTERS - 1))}…`
  }
  return parts
}

function endOf(text: string, most = CHARACTERS): number {
  let end = 0
  let space = 0
  for (const { segment, index } of segmenter.segment(text.slice(0, most + 50))) {
    if (index > 0 && index <= most && /^\s/.test(segment)) space = index
    if (index + segment.length > most) break
    end = index + segment.length
  }
  if (space > most / 2) return space
  // One character of marks without end has no place to cut.
  return end || most
}
