/** Application extensions that make an animation repeat. All others carry metadata. */
const KEPT_APPLICATIONS = ['NETSCAPE2.0', 'ANIMEXTS1.0']

const [EXTENSION, IMAGE, TRAILER] = [0x21, 0x2c, 0x3b]
const [GRAPHIC_CONTROL, APPLICATION] = [0xf9, 0xff]

/**
 * A GIF without comments, metadata and whatever follows its end. Frames are copied as they are: writing an animation
 * again takes minutes. Throws if the blocks don't add up to a GIF.
 */
export function cleanGif(gif: Buffer): Buffer {
  let at = 0
  const kept: Buffer[] = []
  const take = (length: number): Buffer => {
    if (at + length > gif.length) throw new Error('the GIF ends too early')
    at += length
    return gif.subarray(at - length, at)
  }
  const takeByte = () => take(1).readUInt8()
  /** A chain of sub-blocks, with the empty one at its end. */
  const takeBlocks = (): Buffer => {
    const start = at
    for (let length = takeByte(); length > 0; length = takeByte()) take(length)
    return gif.subarray(start, at)
  }
  const colors = (flags: number) => (flags & 0x80 ? 3 * 2 ** ((flags & 0x07) + 1) : 0)

  const screen = take(13)
  if (!/^GIF8[79]a$/.test(screen.toString('latin1', 0, 6))) throw new Error('this is no GIF')
  kept.push(screen, take(colors(screen.readUInt8(10))))
  for (;;) {
    const introducer = takeByte()
    if (introducer === TRAILER) break
    if (introducer === IMAGE) {
      const descriptor = take(9)
      const table = take(colors(descriptor.readUInt8(8)))
      kept.push(Buffer.of(IMAGE), descriptor, table, take(1), takeBlocks())
    } else if (introducer === EXTENSION) {
      const label = takeByte()
      const blocks = takeBlocks()
      const application = blocks.toString('latin1', 1, 12)
      const isKept =
        label === GRAPHIC_CONTROL ||
        (label === APPLICATION && KEPT_APPLICATIONS.includes(application))
      if (isKept) kept.push(Buffer.of(EXTENSION, label), blocks)
    } else {
      throw new Error('the GIF has an unknown block')
    }
  }
  return Buffer.concat([...kept, Buffer.of(TRAILER)])
}
