/** The thread that reads and cuts texts of the knowledge base. Readers are loaded only for the files that need them. */
import { readFile } from 'node:fs/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { chunksOf } from './chunks.ts'
import {
  type Extracted,
  type Extracting,
  type Read,
  SOURCE_CHUNKS,
  TEXT_LENGTH,
} from './extract.ts'

async function extract(task: Extracting): Promise<Extracted> {
  const read = 'text' in task ? task : await readText(task)
  return 'text' in read ? cut(read.text) : read
}

function cut(text: string): Extracted {
  const chunks = chunksOf(text, SOURCE_CHUNKS + 1)
  if (chunks.length === 0) return { reason: 'empty' }
  return chunks.length > SOURCE_CHUNKS ? { reason: 'too_long' } : { chunks }
}

async function readText({ path, type }: Extract<Extracting, { path: string }>): Promise<Read> {
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

const limited = (text: string): Read =>
  text.length > TEXT_LENGTH ? { reason: 'too_long' } : { text }

parentPort?.postMessage(await extract(workerData))
