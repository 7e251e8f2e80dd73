/** Control characters, and characters that change the direction of text. */
const INVISIBLE = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu

/**
 * Text that is safe to print. Names come from other people, and escape sequences in them could change
 * what the terminal shows.
 */
const printable = (text: string) => text.replace(INVISIBLE, '�')

const widthOf = (text: string) => [...text].length

/** Formats rows as aligned columns under their titles. */
export function table(titles: string[], rows: string[][]): string {
  const lines = [titles, ...rows].map((row) => row.map(printable))
  const widths = titles.map((_, column) =>
    Math.max(...lines.map((line) => widthOf(line[column] ?? ''))),
  )
  return lines
    .map((line) =>
      line
        .map((text, column) => text + ' '.repeat((widths[column] ?? 0) - widthOf(text)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** The day of a time, in UTC. */
export const day = (time: Date) => time.toISOString().slice(0, 10)

export const unixSeconds = (time: Date) => Math.floor(time.getTime() / 1000)
