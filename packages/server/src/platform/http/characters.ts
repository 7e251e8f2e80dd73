const EMOJI = /\p{RGI_Emoji}/gv

/** The length of a name as people count it: an emoji is two, any other code point one. */
export function countCharacters(text: string): number {
  let emojis = 0
  const rest = text.replace(EMOJI, () => {
    emojis++
    return ''
  })
  return 2 * emojis + [...rest].length
}

/** Texts that PostgreSQL cannot store as they are: U+0000, or half of a surrogate pair. */
export const isStorable = (text: string) => text.isWellFormed() && !text.includes('\u0000')
