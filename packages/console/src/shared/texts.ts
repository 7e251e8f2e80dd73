/** Removes spaces. People type one-time codes in groups, as apps show them. */
export const withoutSpaces = (text: string) => text.replace(/\s/g, '')

/** The text as it can be typed into one line: without line breaks and invisible characters. */
export const typable = (text: string) =>
  text.normalize().replace(/\s/g, ' ').replace(/\p{C}/gu, '').replace(/ +/g, ' ').trim()

const number = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })

/** A number of bytes, as people read it. Limits are powers of two. */
export function sizeOf(bytes: number): string {
  const [kb, mb, gb] = [bytes / 1024, bytes / 1024 ** 2, bytes / 1024 ** 3]
  if (mb < 1) return `${Math.ceil(kb)} KB`
  return gb < 1 ? `${number.format(mb)} MB` : `${number.format(gb)} GB`
}
