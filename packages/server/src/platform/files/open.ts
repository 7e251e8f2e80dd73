import type { Secrets } from '../secrets/secrets.ts'
import type { DriverOptions, FileDriver } from './driver.ts'

/** Opens the configured driver, if there is one. Loads only its code. */
export async function openDriver(
  options: DriverOptions,
  secrets: Secrets,
): Promise<FileDriver | undefined> {
  if (options.bucketUrl) {
    const { S3Driver } = await import('./s3.ts')
    return new S3Driver(options)
  }
  if (!options.folder) return undefined
  const { FolderDriver } = await import('./folder.ts')
  const keys = secrets.keys('files').map(({ key }) => key)
  return new FolderDriver({ root: options.folder, origin: options.origin, keys })
}
