/** The thread that reads and cuts texts of the knowledge base. Readers are loaded only for the files that need them. */
import { readFile } from 'node:fs/promises'
import { getHeapStatistics } from 'node:v8'
import { parentPort } from 'node:worker_threads'
import { chunksOf } from './chunks.ts'
import {
  type Answer,
  type Extracted,
  type ExtractedPage,
  type Extracting,
  PAGE_CHUNKS,
  type PageTask,
  type Read,
  SOURCE_CHUNKS,
  TEXT_LENGTH,
} from './extract.ts'
import type { FailReason } from './schema.ts'

async function extract(task: Extracting): Promise<Extracted> {
  const read = 'text' in task ? task : await readText(task)
  return 'text' in read ? cut(read.text) : read
}

function cut(text: string, most = SOURCE_CHUNKS): Extracted {
  const chunks = chunksOf(text, most + 1)
  if (chunks.length === 0) return { reason: 'empty' }
  return chunks.length > most ? { reason: 'too_long' } : { chunks }
}

async function extractPage(task: PageTask): Promise<ExtractedPage | { reason: FailReason }> {
  const text = decoded(task)
  if (text.includes('\0')) return { reason: 'unreadable' }
  if (task.type !== 'text/html') {
    return { title: '', description: '', links: [], noindex: false, text: cut(text, PAGE_CHUNKS) }
  }
  const { readHtml, TooDeep } = await import('./html.ts')
  const { linksOf } = await import('./crawl/links.ts')
  try {
    const { title, description, text: said, robots, ...leads } = readHtml(text)
    return {
      ...{ title, description, text: cut(said, PAGE_CHUNKS) },
      links: /\b(nofollow|none)\b/.test(robots) ? [] : linksOf(task.url, leads),
      noindex: /\b(noindex|none)\b/.test(robots),
    }
  } catch (error) {
    if (error instanceof TooDeep) return { reason: 'unreadable' }
    throw error
  }
}

/** By the header, or else by what the page says about itself. */
function decoded({ page, charset }: PageTask): string {
  const start = Buffer.from(page.subarray(0, 1_024)).toString('latin1')
  const label = charset ?? /<meta[^>]{0,200}charset="?'?([\w-]+)/i.exec(start)?.[1] ?? 'utf-8'
  try {
    return new TextDecoder(label).decode(page)
  } catch {
    return new TextDecoder().decode(page)
  }
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

parentPort?.on('message', async (task: Extracting | PageTask) => {
  const extracted = await ('page' in task ? extractPage(task) : extract(task))
  const { used_heap_size: heap, external_memory: buffers } = getHeapStatistics()
  const answer: Answer = { extracted, bytes: heap + buffers }
  parentPort?.postMessage(answer)
})
