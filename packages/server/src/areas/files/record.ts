import type { FileRecord } from '@loquat/protocol'
import type { Config } from '../../config.ts'
import type { ServedApp } from '../../core/actor.ts'
import type { FileDriver } from '../../platform/files/driver.ts'
import type { FileRow } from './queries.ts'
import { FILE_ID, type FileDetails, type Links, type Upload } from './schema.ts'

/** How long the URLs for an upload work, and how long an upload may take. */
export const UPLOAD_SECONDS = 24 * 3_600
const LINK_SECONDS = 300

/** What the check of a file found, besides its type and size. */
export interface Details {
  width?: number
  height?: number
  durationMs?: number
  waveform?: number[]
  preview?: string
  thumbnails?: NonNullable<FileRecord['thumbnails']>
}

export const urlOf = (id: string) => `/v3/files/${id}`

/** The id of a file of ours that an attachment refers to. */
export const idOfUrl = (url: unknown): string | undefined =>
  typeof url === 'string' ? /^\/v3\/files\/([0-9a-f]{32})$/.exec(url)?.[1] : undefined

/** No operation has this path, with or without a version. */
export const PICTURES_PATH = '/pictures'

type Origins = Pick<Config, 'files' | 'service'>

/** The URL of a picture. It is absolute, because pages show it as it is. */
export const pictureUrl = ({ files, service }: Origins, appId: string, id: string): string =>
  new URL(`${PICTURES_PATH}/${appId}/${id}`, files.origin || service.publicUrl).href

/** The id of the app's picture that a URL shows. */
export function idOfPicture(origins: Origins, appId: string, url: string): string | undefined {
  const start = pictureUrl(origins, appId, '')
  const id = url.startsWith(start) ? url.slice(start.length) : ''
  return FILE_ID.test(id) ? id : undefined
}

/** The record, which is the same for all readers. */
export const toFile = (row: FileRow): FileRecord => ({
  id: row.id,
  url: urlOf(row.id),
  name: row.name,
  mimeType: row.type,
  size: Number(row.size),
  status: row.state as FileRecord['status'],
  ...(row.reason !== null && { reason: row.reason as NonNullable<FileRecord['reason']> }),
  ...(row.uid !== null && { uploadedBy: row.uid }),
  ...(row.sha256 && { sha256: row.sha256.toString('hex') }),
  ...(row.details as Details | null),
  createdAt: Math.floor(row.created_at.getTime() / 1_000),
})

/** The keys of a file's objects begin with its app. */
export const prefixOf = (appId: string, id: string) => `${appId}/${id}`
export const uploadOf = (appId: string, id: string) => `${prefixOf(appId, id)}/upload`

/** The parts of an upload: numbers, places and keys. */
export function partsOf(appId: string, { id, size, part_size }: FileRow) {
  const count = Math.ceil(Number(size) / part_size)
  return Array.from({ length: count }, (_, n) => {
    const offset = n * part_size
    const length = Math.min(part_size, Number(size) - offset)
    return { number: n + 1, offset, size: length, key: `${uploadOf(appId, id)}/${n + 1}` }
  })
}

/** The parts that aren't there yet. */
export async function missingParts(driver: FileDriver, appId: string, row: FileRow) {
  const there = await driver.list(uploadOf(appId, row.id))
  return partsOf(appId, row).filter(({ key, size }) => there.get(key) !== size)
}

async function uploadFor(driver: FileDriver, app: ServedApp, row: FileRow): Promise<Upload> {
  const ends = Math.floor((row.upload_ends_at?.getTime() ?? 0) / 1_000)
  const seconds = Math.max(ends - Math.floor(Date.now() / 1_000), 1)
  const parts = await missingParts(driver, app.id, row)
  return {
    headers: { 'content-type': row.type },
    parts: await Promise.all(
      parts.map(async ({ key, ...part }) => {
        const url = await driver.uploadUrl(key, { size: part.size, type: row.type, seconds })
        return { ...part, url }
      }),
    ),
    expiresAt: ends,
  }
}

/** The URL of an attachment for a service outside: files of ours are private, so theirs is signed. */
export async function publicUrl(
  driver: FileDriver | undefined,
  appId: string,
  { url, mimeType, name }: { url: string; mimeType?: unknown; name?: unknown },
): Promise<string> {
  const id = idOfUrl(url)
  if (id === undefined || !driver) return url
  const options = { type: String(mimeType), name: String(name), seconds: LINK_SECONDS }
  return driver.downloadUrl(`${prefixOf(appId, id)}/body`, options)
}

/** URLs for a file that is ready, and for its thumbnails. */
export async function linksOf(
  driver: FileDriver,
  appId: string,
  { id, type, name, details }: FileRow,
): Promise<Links> {
  const { thumbnails = [] } = (details ?? {}) as Details
  const sign = (part: string, of: string) =>
    driver.downloadUrl(`${prefixOf(appId, id)}/${part}`, { type: of, name, seconds: LINK_SECONDS })
  const links: Links = {
    file: await sign('body', type),
    expiresAt: Math.floor(Date.now() / 1_000) + LINK_SECONDS,
  }
  for (const { name: part, mimeType } of thumbnails) links[part] = await sign(part, mimeType)
  return links
}

/** A file as its uploader or a reader sees it: with the URLs for what they can do next. */
export async function detailsOf(
  driver: FileDriver,
  app: ServedApp,
  row: FileRow,
): Promise<FileDetails> {
  const file = toFile(row)
  if (row.state === 'pending') return { ...file, upload: await uploadFor(driver, app, row) }
  if (row.state === 'ready') return { ...file, links: await linksOf(driver, app.id, row) }
  return file
}
