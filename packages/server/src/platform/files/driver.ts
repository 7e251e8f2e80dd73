/** Where the bytes of files are: an S3-compatible bucket, or a folder. Knows objects by their keys, nothing else. */

import type { Readable } from 'node:stream'

/** What a signed URL lets somebody upload: exactly this many bytes of this type. */
export interface Upload {
  size: number
  type: string
  seconds: number
}

/** How a signed URL answers. */
export interface Download {
  type: string
  /** The name under which a browser saves it. */
  name: string
  seconds: number
}

export interface FileDriver {
  readonly kind: 'folder' | 's3'
  /** The size of the parts of an upload. There are never more than 1,000. */
  partSizeFor(size: number): number
  /** A URL for a PUT request. */
  uploadUrl(key: string, upload: Upload): Promise<string>
  /** A URL for GET requests. */
  downloadUrl(key: string, download: Download): Promise<string>
  /** Reads an object, if it exists. */
  open(key: string): Promise<{ size: number; body: Readable } | undefined>
  /** The sizes of all objects whose keys begin with `prefix/`. */
  list(prefix: string): Promise<Map<string, number>>
  /** Writes these objects, one after the other, into a new file. Later uploads don't change it. */
  fetch(keys: string[], path: string, signal?: AbortSignal): Promise<void>
  /** Stores a file, which may be gone afterwards. An object with this key is replaced at once. */
  store(key: string, path: string, type: string): Promise<void>
  /** Deletes all objects whose keys begin with `prefix/`. */
  removeAll(prefix: string): Promise<void>
  /** Fails if the store doesn't work. */
  probe(signal: AbortSignal): Promise<void>
  /** An empty folder for one run of a job. Delete it afterwards. */
  openScratch(): Promise<string>
  /** Deletes what processes that died have left behind. */
  tidy(): Promise<void>
}

/** The configuration of both drivers. Empty texts mean that there is none. */
export interface DriverOptions {
  folder: string
  /** Where the URLs of the folder lead to. */
  origin: string
  /** The address of the service, then the name of the bucket. */
  bucketUrl: string
  /** The access key, a colon, the secret key. */
  bucketCredentials: string
  bucketRegion: string
}

/** Types that a browser may show by itself: none of them can run a script. */
const SHOWN = new Set([
  ...['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif'],
  ...['audio/mpeg', 'audio/mp4', 'audio/aac', 'audio/ogg', 'audio/wav', 'audio/webm', 'audio/flac'],
  ...['video/mp4', 'video/webm', 'video/ogg', 'video/quicktime'],
])

/** The type and the disposition of an answer. Everything that isn't known to be harmless is only saved. */
export function headersOf({ type, name }: Pick<Download, 'type' | 'name'>) {
  const shown = SHOWN.has(type)
  const ascii = name.replace(/[^\x20-\x7e]|["\\%]/g, '_')
  const exact = ascii === name ? '' : `; filename*=UTF-8''${encoded(name)}`
  const disposition = `${shown ? 'inline' : 'attachment'}; filename="${ascii}"${exact}`
  return { type: shown ? type : 'application/octet-stream', disposition }
}

const encoded = (name: string) =>
  encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
