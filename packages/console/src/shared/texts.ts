/** Removes spaces. People type one-time codes in groups, as apps show them. */
export const withoutSpaces = (text: string) => text.replace(/\s/g, '')

/** The text as it can be typed into one line: without line breaks and invisible characters. */
export const typable = (text: string) =>
  text.normalize().replace(/\s/g, ' ').replace(/\p{C}/gu, '').replace(/ +/g, ' ').trim()
