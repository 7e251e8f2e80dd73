const EMOJI = /\p{RGI_Emoji}/gv

/** The length of a name: an emoji counts as two, any other code point as one. */
export function countCharacters(text: string): number {
  let emojis = 0
  const rest = text.replace(EMOJI, () => {
    emojis++
    return ''
  })
  return 2 * emojis + [...rest].length
}

/** Whether PostgreSQL can store a text: it rejects U+0000 and lone surrogates. */
export const isStorable = (text: string) => text.isWellFormed() && !text.includes('\u0000')

/** The beginning of a text of any origin that PostgreSQL can store. Cutting can leave half an emoji. */
export const storableStart = (text: string, length: number) =>
  text.replaceAll('\0', '').slice(0, length).toWellFormed()
