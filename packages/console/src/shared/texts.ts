/** Without spaces: codes are shown in groups, and typed so. */
export const bare = (text: string) => text.replace(/\s/g, '')

/** As it can be typed into one line: no line breaks, and nothing that cannot be seen. */
export const typable = (text: string) =>
  text.normalize().replace(/\s/g, ' ').replace(/\p{C}/gu, '').replace(/ +/g, ' ').trim()
