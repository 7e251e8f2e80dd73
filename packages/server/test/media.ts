/** Real files of many types, made without network or fixtures. */
import { crc32, deflateSync } from 'node:zlib'
import sharp from 'sharp'

export const noise = (width: number, height: number) =>
  sharp({
    create: {
      width,
      height,
      channels: 3,
      background: 'orange',
      noise: { type: 'gaussian', mean: 128, sigma: 40 },
    },
  })

/** A photo as a phone takes it: on its side, with the place where it was taken. */
export const phonePhoto = (width: number, height: number): Promise<Buffer> =>
  noise(width, height)
    .withMetadata({ orientation: 6 })
    .withExifMerge({
      IFD0: { Make: 'Loquat Camera', Copyright: 'Amira' },
      IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '51/1 30/1 3230/100' },
    })
    .jpeg()
    .toBuffer()

function chunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name), data])
  return Buffer.concat([uint32(data.length), body, uint32(crc32(body))])
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** A valid PNG of one colour. 400 million pixels fit into 50 KB. */
export function hugePng(width: number, height: number): Buffer {
  const blackAndWhite = Buffer.of(1, 0, 0, 0, 0)
  const rows = Buffer.alloc(height * (1 + Math.ceil(width / 8)))
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', Buffer.concat([uint32(width), uint32(height), blackAndWhite])),
    chunk('IDAT', deflateSync(rows, { level: 1 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

/** One second that is silent in its first half, 16 bits, mono. */
export function wav(rate = 8000): Buffer<ArrayBuffer> {
  const samples = Buffer.alloc(rate * 2)
  for (let n = rate / 2; n < rate; n++) {
    samples.writeInt16LE(Math.round(16_384 * Math.sin(n / 4)), n * 2)
  }
  const header = Buffer.alloc(44)
  header.write('RIFF', 0)
  header.writeUInt32LE(36 + samples.length, 4)
  header.write('WAVEfmt ', 8)
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(rate, 24)
  header.writeUInt32LE(rate * 2, 28)
  header.writeUInt16LE(2, 32)
  header.writeUInt16LE(16, 34)
  header.write('data', 36)
  header.writeUInt32LE(samples.length, 40)
  return Buffer.concat([header, samples])
}

/** A picture of one pixel that is also a script: `GIF89a/*…*\/=1;`. Its canvas is 10,799 × 1. */
export function gifScript(script: string): Buffer<ArrayBuffer> {
  const text = Buffer.from(`*/=1;${script}//`)
  return Buffer.concat([
    Buffer.from('GIF89a/*', 'latin1'),
    Buffer.from([1, 0, 0x80, 0, 0]),
    Buffer.from([0, 0, 0, 255, 255, 255]),
    Buffer.from([0x21, 0xfe, text.length]),
    text,
    Buffer.of(0),
    Buffer.from([0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0]),
    Buffer.of(0x3b),
  ])
}

/** A ZIP archive with one stored file. */
export function zip(name: string, content: string): Buffer {
  const [names, data] = [Buffer.from(name), Buffer.from(content)]
  const common = Buffer.alloc(26)
  common.writeUInt16LE(20, 0)
  common.writeUInt32LE(crc32(data), 10)
  common.writeUInt32LE(data.length, 14)
  common.writeUInt32LE(data.length, 18)
  common.writeUInt16LE(names.length, 22)
  const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, names, data])
  const central = Buffer.concat([
    Buffer.from('PK\x01\x02\x14\x00'),
    common,
    Buffer.alloc(14),
    names,
  ])
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06')
  end.writeUInt16LE(1, 8)
  end.writeUInt16LE(1, 10)
  end.writeUInt32LE(central.length, 12)
  end.writeUInt32LE(local.length, 16)
  return Buffer.concat([local, central, end])
}

export const pdf = (text = 'Hi') =>
  Buffer.from(
    `%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj<</Type/Catalog>>endobj\n% ${text}\ntrailer<</Root 1 0 R>>\n%%EOF\n`,
    'latin1',
  )

export const svgScript = (script: string) =>
  Buffer.from(
    `<?xml version="1.0"?><!-- a picture --><svg xmlns="http://www.w3.org/2000/svg" onload="${script}"><script>${script}</script></svg>`,
  )

export const page = (script: string) =>
  Buffer.from(`<!doctype html><title>Hi</title><script>${script}</script>`)

/** The same second as `wav`, made by opusenc, because nothing in JavaScript encodes Opus. */
export const oggOpus = () => Buffer.from(OGG_OPUS.join(''), 'base64')

const OGG_OPUS = [
  'T2dnUwACAAAAAAAAAAAiLPVLAAAAALjFWUoBE09wdXNIZWFkAQE4AUAfAAAAAABPZ2dTAAAAAAAAAAAAACIs9UsBAAAA',
  'vNsSGwGjT3B1c1RhZ3MfAAAAbGlib3B1cyAxLjMuMSwgbGlib3B1c2VuYyAwLjIuMQIAAAAjAAAARU5DT0RFUj1vcHVz',
  'ZW5jIGZyb20gb3B1cy10b29scyAwLjJJAAAARU5DT0RFUl9PUFRJT05TPS0tYml0cmF0ZSA4IC0tZnJhbWVzaXplIDYw',
  'IC0tZGlzY2FyZC1jb21tZW50cyAtLXBhZGRpbmcgME9nZ1MAAAC0AAAAAAAAIiz1SwIAAAA6JWjaEA8ODg4ODg4OMCkp',
  'LSkoMi8YAvkuaC8hSsxLxHDgM6gYAfGsw4zYC9cFtr0Q0hgB8azDjNgL1wW2vRDSGAHxrMOM2AvXBba9ENIYAfGsw4zY',
  'C9cFtr0Q0hgB8azDjNgL1wW2vRDSGAHxrMOM2AvXBba9ENIYAfGsw4zYC9cFtr0Q0hjhgcUhxMH3DIgSq7y2DBtg52qi',
  'fj2LwuKIEg9gv2lrGF2RVfpYDxxO09IvWgnI8Bjp8JXX8PtMjilgTRHXGVYr+0acqlbz+aBcgOJSPc35CtYKm6E5ds6g',
  'GOnwldgiq8KMYa0j8NC9cZ0UwGiMhyYRrpba35B2WNUtXFXtzprk5I4Y6fCV2CKrwoxZR28u4pEOLzuz7JtHiXKxzQAD',
  'ls6yaCYhzZ0RHaSNXUMADiQY6fCV2AbELh5bLY7fN6LJSUsckRzEpeHV40606WPvvKlmB/4U9/0R+hjp8JXYIqvCjFDd',
  'mXLoCf2UKRrjkuI0oEK58FlM+O/oPq3htjVYZLAY6fCV1/D7TI48OistlmeBE8FniXF9rpWrFS1+Cirw3xK2cBpXn0KX',
  'aVUrZjbOgOrjzhjp8JXX8PtMjhia25sS16OTyfv/MFVqf5LNzQAcOkcGxc/jIMiIFLMXyQUGqD04T2dnUwAEuLwAAAAA',
  'AAAiLPVLAwAAAB0H5EIBQhjp8JXYIqnayHfD/i79OgPH9fSwCIru4DF5+j66YsRfPRThXk6Ke0TnUQzUHeaiFs4rAVum',
  'tR8qOxC/7y7FewGbuw==',
]

/** The same packets as MediaRecorder writes them: the segment and its cluster have no length. */
export function webmOpus(packets: Buffer[]): Buffer {
  const unknown = Buffer.from('01ffffffffffffff', 'hex')
  const element = (id: string, ...parts: (Buffer | string)[]) => {
    const data = Buffer.concat(parts.map((part) => Buffer.from(part)))
    const length = Buffer.alloc(4)
    length.writeUInt32BE(0x10000000 + data.length)
    return Buffer.concat([Buffer.from(id, 'hex'), length, data])
  }
  const track = element(
    'ae',
    element('d7', Buffer.of(1)),
    element('83', Buffer.of(2)),
    element('86', 'A_OPUS'),
  )
  const start = (id: string) => Buffer.concat([Buffer.from(id, 'hex'), unknown])
  return Buffer.concat([
    element('1a45dfa3', element('4282', 'webm')),
    start('18538067'),
    element('1654ae6b', track),
    start('1f43b675'),
    element('e7', Buffer.of(0)),
    ...packets.map((packet, n) =>
      element('a3', Buffer.of(0x81, (n * 60) >> 8, n * 60, 0x80), packet),
    ),
  ])
}
