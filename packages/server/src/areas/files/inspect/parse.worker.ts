/** The thread that reads uploads. Its readers are loaded only for the files that need them. */
import { parentPort, workerData } from 'node:worker_threads'
import type { Parsed, Reason } from './parsed.ts'
import type { Task } from './parser.ts'
import { sniff } from './sniff.ts'
import { isAccepted, isImage, isMedia } from './types.ts'

async function parse({ path, declaredType, size, ...options }: Task): Promise<Parsed | Reason> {
  const type = await sniff(path)
  if (!isAccepted(declaredType, type) || (options.square && !isImage(type))) return 'type'
  if (isImage(type)) {
    const { readImage } = await import('./image.ts')
    return readImage(path, { type, size, ...options })
  }
  if (isMedia(type)) {
    const { readMedia } = await import('./media.ts')
    return readMedia(path, { type, size, ...options })
  }
  return { type, thumbnails: [] }
}

parentPort?.postMessage(await parse(workerData))
