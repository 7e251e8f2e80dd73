/**
 * The entries in a CSV text. Commas and line breaks separate them. An entry that starts with a double quote ends with
 * one; two quotes inside it stand for one. A loop, because a regular expression could take long for a hostile file.
 */
export function readCsv(text: string): string[] {
  const entries: string[] = []
  let entry = ''
  let quoted = false
  for (let at = text.startsWith('\ufeff') ? 1 : 0; at < text.length; at++) {
    const character = text[at] ?? ''
    if (quoted) {
      if (character !== '"') entry += character
      else if (text[at + 1] === '"') entry += text[at++]
      else quoted = false
    } else if (character === '"' && entry.trim() === '') {
      quoted = true
      entry = ''
    } else if (/[,\r\n]/.test(character)) {
      entries.push(entry)
      entry = ''
    } else entry += character
  }
  return [...entries, entry].map((one) => one.trim()).filter(Boolean)
}
