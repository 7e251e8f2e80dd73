import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import sharp, { type Metadata, type Sharp } from 'sharp'
import { cleanGif } from './gif.ts'
import type { Parsed, Reason, Thumbnail } from './parsed.ts'

/** About 8,000 × 8,000. More would take more than 256 MB. */
const MAX_PIXELS = 64_000_000
/** Animations are read as a whole. */
const MAX_ANIMATION_BYTES = 64 * 1024 * 1024
const DECODE_SECONDS = 60
/** The longer side, in pixels. */
const SIDES = { small: 320, large: 1280, square: 256, preview: 16 }

// Threads of this process, which also answers requests: one for each image.
sharp.concurrency(1)
sharp.cache(false)
// libvips also reads SVG, PDF and more. Whatever a file pretends to be, only these readers are ever used.
sharp.block({ operation: ['VipsForeignLoad'] })
sharp.unblock({
  operation: ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Heif', 'Tiff'].map(
    (format) => `VipsForeignLoad${format}`,
  ),
})

interface ImageOptions {
  type: string
  size: number
  folder: string
  square: boolean
}

/**
 * Decodes an image and writes it again: upright, without metadata such as the place where it was taken, and without
 * anything that is hidden behind the picture. Dimensions are checked before a pixel is decoded.
 */
export async function readImage(path: string, options: ImageOptions): Promise<Parsed | Reason> {
  const { type, folder } = options
  const header = await readable(() => sharp(path, { limitInputPixels: false }).metadata())
  if (!header) return 'unreadable'
  const { width, height } = header.autoOrient
  const frames = type === 'image/webp' ? (header.pages ?? 1) : 1
  if (width * height * frames > MAX_PIXELS) return 'pixels'
  if (type === 'image/gif' && options.size > MAX_ANIMATION_BYTES) return 'size'

  const made = await readable(async () => ({
    body: type === 'image/gif' ? cleanGif(await readFile(path)) : await rewrite(path, type, header),
    ...(await drawSmaller(path, options.square)),
  }))
  if (!made) return 'unreadable'
  // Outside `readable`: a full disk says nothing about the file.
  const body = join(folder, 'body')
  await writeFile(body, made.body)
  const thumbnails: Thumbnail[] = []
  for (const { name, data, info } of made.drawn) {
    const target = join(folder, name)
    await writeFile(target, data)
    const { width, height } = info
    thumbnails.push({ name, type: 'image/webp', width, height, path: target })
  }
  return { type, width, height, preview: made.preview, body, thumbnails }
}

/** Undefined if the bytes aren't a whole image. */
async function readable<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read()
  } catch {
    return undefined
  }
}

const open = (path: string, options: { animated?: boolean } = {}) =>
  sharp(path, { limitInputPixels: MAX_PIXELS, failOn: 'error', sequentialRead: true, ...options })
    .timeout({ seconds: DECODE_SECONDS })
    .autoOrient()

/** In sRGB and in the same format. Nothing but pixels is kept: sharp drops metadata unless asked to keep it. */
function rewrite(path: string, type: string, header: Metadata): Promise<Buffer> {
  const image = open(path, { animated: type === 'image/webp' && (header.pages ?? 1) > 1 })
  return encode(image, type, header).toBuffer()
}

function encode(image: Sharp, type: string, { chromaSubsampling = '4:2:0' }: Metadata): Sharp {
  switch (type) {
    case 'image/jpeg':
      return image.jpeg({
        quality: 90,
        chromaSubsampling: chromaSubsampling === '4:4:4' ? '4:4:4' : '4:2:0',
      })
    case 'image/png':
      return image.png()
    case 'image/webp':
      return image.webp({ quality: 90 })
    case 'image/avif':
      return image.avif({ quality: 70, effort: 2 })
    case 'image/tiff':
      return image.tiff({ compression: 'lzw' })
    default:
      throw new Error(`${type} can't be written`)
  }
}

interface Drawn {
  name: Thumbnail['name']
  data: Buffer
  info: { width: number; height: number }
}

/** Everything smaller comes from one reduced picture, because decoding is what takes long. */
async function drawSmaller(path: string, square: boolean) {
  const inside = (side: number) =>
    ({ width: side, height: side, fit: 'inside', withoutEnlargement: true }) as const
  const base = await open(path)
    .resize(inside(SIDES.large))
    .raw()
    .toBuffer({ resolveWithObject: true })
  const { width, height, channels } = base.info
  const start = () => sharp(base.data, { raw: { width, height, channels } })
  const draw = async (name: Thumbnail['name'], image: Sharp): Promise<Drawn> => ({
    name,
    ...(await image.webp({ quality: 80 }).toBuffer({ resolveWithObject: true })),
  })
  const drawn = [await draw('small', start().resize(inside(SIDES.small)))]
  // The small one already shows every pixel of a small image.
  if (Math.max(width, height) > SIDES.small) drawn.push(await draw('large', start()))
  if (square) {
    const side = Math.min(SIDES.square, width, height)
    drawn.push(await draw('square', start().resize(side, side, { fit: 'cover' })))
  }
  const tiny = await start().resize(inside(SIDES.preview)).webp({ quality: 30 }).toBuffer()
  return { drawn, preview: `data:image/webp;base64,${tiny.toString('base64')}` }
}
