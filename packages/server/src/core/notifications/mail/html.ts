/** Text in HTML, and colors that can be read. */

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

export const escaped = (text: string) =>
  text
    // biome-ignore lint/suspicious/noControlCharactersInRegex: HTML has no place for them
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '')
    .replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')

/** With its line breaks. */
export const paragraphs = (text: string) => escaped(text).replaceAll('\n', '<br>')

/** Only for URLs of ours and of the app, never of users. */
export const attribute = (url: string) => escaped(url)

/** Black or white, whichever can be read on this color. */
export function inkOn(color: string): '#ffffff' | '#1c1917' {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  const luminance = 0.2126 * r + 0.7152 * g + 0.0722 * b
  return 1.05 / (luminance + 0.05) >= 4.5 ? '#ffffff' : '#1c1917'
}
