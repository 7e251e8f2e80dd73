/** The thread that reads files of the knowledge base. Readers are loaded only for the files that need them. */
import { readFile } from 'node:fs/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { type Extracted, type Extracting, TEXT_LENGTH } from './extract.ts'

async function extract({ path, type }: Extracting): Promise<Extracted> {
  const bytes = await readFile(path)
  if (type === 'application/pdf') {
    const { readPdf } = await import('./pdf.ts')
    return readPdf(bytes)
  }
  const text = new TextDecoder().decode(bytes)
  // Not text, whatever its type says. PostgreSQL doesn't store it either.
  if (text.includes('\0')) return { reason: 'unreadable' }
  if (type !== 'text/html') return limited(text)
  const { readHtml, TooDeep } = await import('./html.ts')
  try {
    return limited(readHtml(text).text)
  } catch (error) {
    if (error instanceof TooDeep) return { reason: 'unreadable' }
    throw error
  }
}

const limited = (text: string): Extracted =>
  text.length > TEXT_LENGTH ? { reason: 'too_long' } : { text }

parentPort?.postMessage(await extract(workerData))
