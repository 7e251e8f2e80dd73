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
