/** Server-sent events, as the HTML standard describes them. */

export interface SentEvent {
  /** `message` if the server names none. */
  event: string
  data: string
}

/** The server sent something that is no event stream, or too much. */
export class InvalidStream extends Error {}

/** Reads events from the body of a response. Incomplete events at its end are dropped. */
export async function* readEvents(
  chunks: AsyncIterable<Buffer>,
  { lineBytes, totalBytes }: { lineBytes: number; totalBytes: number },
): AsyncGenerator<SentEvent> {
  const decoder = new TextDecoder()
  let [rest, event, total] = ['', '', 0]
  let data: string[] = []
  /** Whether the rest ends with a carriage return: a line feed may follow in the next chunk. */
  let returned = false
  for await (const chunk of chunks) {
    total += chunk.length
    if (total > totalBytes) throw new InvalidStream('the response is too large')
    const piece = decoder.decode(chunk, { stream: true })
    rest += piece
    let lines: string[] = []
    // Splitting after each piece of a long line would take quadratic time.
    if (returned || /[\r\n]/.test(piece)) {
      lines = rest.split(/\r\n|\n|\r(?!$)/)
      rest = lines.pop() ?? ''
      returned = rest.endsWith('\r')
    }
    if (rest.length > lineBytes) throw new InvalidStream('a line of the response is too long')
    for (const line of lines) {
      if (line === '') {
        if (data.length > 0) yield { event: event || 'message', data: data.join('\n') }
        event = ''
        data = []
        continue
      }
      const [, field = '', value = ''] = /^([^:]*)(?::\x20?(.*))?$/s.exec(line) ?? []
      if (field === 'data') data.push(value)
      else if (field === 'event') event = value
    }
  }
}
