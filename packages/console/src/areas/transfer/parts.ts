/** Characters of a part: it may become longer as JSON. */
const PART = 1_500_000

/** A file as parts of whole lines. Compressed ones are decompressed here. `read`: bytes of the file so far. */
export async function* partsOf(file: File): AsyncGenerator<{ lines: string; read: number }> {
  let read = 0
  const counted = file.stream().pipeThrough(
    new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(chunk, controller) {
        read += chunk.byteLength
        controller.enqueue(chunk)
      },
    }),
  )
  const plain = file.name.endsWith('.gz')
    ? counted.pipeThrough(new DecompressionStream('gzip'))
    : counted
  const reader = plain.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  for (;;) {
    const { done, value } = await reader.read()
    text += value ?? ''
    if (text.length < PART && !done) continue
    const end = done ? text.length : text.lastIndexOf('\n') + 1
    if (end > 0) yield { lines: text.slice(0, end), read }
    text = text.slice(end)
    if (done) return
  }
}

/** Lets the browser save compressed parts as one file: gzip files one after another are a gzip file. */
export function save(name: string, parts: string[]): void {
  const bytes = parts.map((part) => Uint8Array.from(atob(part), (char) => char.charCodeAt(0)))
  const url = URL.createObjectURL(new Blob(bytes, { type: 'application/gzip' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}
