import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import sharp from 'sharp'
import { EICAR, STREAM_MAX_BYTES, startClamd, type TestClamd } from '../../../../test/clamd.ts'
import {
  gifScript,
  hugePng,
  noise,
  oggOpus,
  page,
  pdf,
  phonePhoto,
  svgScript,
  wav,
  webmOpus,
  zip,
} from '../../../../test/media.ts'
import { scan } from './clamd.ts'
import { type InspectOptions, inspect } from './inspect.ts'
import { readOggPackets } from './packets.ts'

const dir = mkdtempSync(join(tmpdir(), 'loquat-inspect-'))
after(() => rmSync(dir, { recursive: true }))

function store(bytes: Buffer | string): string {
  const path = join(mkdtempSync(join(dir, 'upload-')), 'upload')
  writeFileSync(path, bytes)
  return path
}

function look(bytes: Buffer | string, declaredType: string, options: Partial<InspectOptions> = {}) {
  const folder = mkdtempSync(join(dir, 'run-'))
  const declaredSize = Buffer.byteLength(bytes)
  return inspect(store(bytes), { declaredType, declaredSize, folder, ...options })
}

async function ready(...args: Parameters<typeof look>) {
  const inspected = await look(...args)
  assert.equal(inspected.outcome, 'ready', JSON.stringify(inspected))
  return inspected.outcome === 'ready' ? inspected : assert.fail()
}

const rejected = (reason: string) => ({ outcome: 'rejected', reason })

suite('images', () => {
  test('lose their metadata and stand upright', async () => {
    const photo = await phonePhoto(1600, 1200)
    const before = await sharp(photo).metadata()
    assert.equal(before.orientation, 6)
    assert.ok(before.exif?.includes('Amira'))

    const { type, width, height, body = '', size, sha256 } = await ready(photo, 'image/jpeg')
    assert.deepEqual([type, width, height], ['image/jpeg', 1200, 1600])
    const served = readFileSync(body)
    const { exif, xmp, orientation, ...header } = await sharp(served).metadata()
    assert.deepEqual([exif, xmp, orientation], [undefined, undefined, undefined])
    assert.deepEqual([header.width, header.height], [1200, 1600])
    assert.equal(served.includes('Amira'), false)
    assert.equal(size, served.length)
    assert.equal(sha256, createHash('sha256').update(served).digest('hex'))
  })

  test('get thumbnails and a preview of a few bytes', async () => {
    const photo = await phonePhoto(1600, 1200)
    const { thumbnails, preview = '' } = await ready(photo, 'image/jpeg', { square: true })
    const sizes = thumbnails.map(({ name, type, width, height }) => [name, type, width, height])
    assert.deepEqual(sizes, [
      ['small', 'image/webp', 240, 320],
      ['large', 'image/webp', 960, 1280],
      ['square', 'image/webp', 256, 256],
    ])
    for (const { path, width, height } of thumbnails) {
      const drawn = await sharp(path).metadata()
      assert.deepEqual([drawn.format, drawn.width, drawn.height], ['webp', width, height])
    }
    assert.match(preview, /^data:image\/webp;base64,/)
    assert.ok(preview.length < 400)
  })

  test('keep their format and are never enlarged', async () => {
    for (const format of ['png', 'webp', 'avif', 'tiff', 'gif'] as const) {
      const image = await noise(60, 40).toFormat(format).toBuffer()
      const { type, width, height, body = '', thumbnails } = await ready(image, `image/${format}`)
      assert.deepEqual([type, width, height], [`image/${format}`, 60, 40])
      assert.equal((await sharp(body).metadata()).format, format === 'avif' ? 'heif' : format)
      assert.deepEqual(
        thumbnails.map(({ name, width, height }) => [name, width, height]),
        [['small', 60, 40]],
      )
    }
  })

  test('keep their animation', async () => {
    const frames = await Promise.all([1, 2, 3].map(() => noise(20, 20).png().toBuffer()))
    for (const format of ['gif', 'webp'] as const) {
      const image = await sharp(frames, { join: { animated: true } })
        .toFormat(format, { loop: 3, delay: [40, 40, 40] })
        .toBuffer()
      const { body, width, height } = await ready(image, `image/${format}`)
      assert.deepEqual([width, height], [20, 20])
      const { pages, loop, delay } = await sharp(body, { animated: true }).metadata()
      assert.deepEqual([pages, loop, delay], [3, 3, [40, 40, 40]])
    }
  })

  test('lose what is hidden in comments and behind their end', async () => {
    const hidden = Buffer.from('<script>alert(1)</script>')
    for (const format of ['png', 'gif', 'jpeg'] as const) {
      const image = await noise(20, 20).toFormat(format).toBuffer()
      const { body = '' } = await ready(Buffer.concat([image, hidden]), `image/${format}`)
      assert.equal(readFileSync(body).includes('alert'), false, format)
    }
    const { type, body = '' } = await ready(gifScript('alert(1)'), 'image/gif')
    assert.equal(type, 'image/gif')
    assert.equal(readFileSync(body).includes('alert'), false)
    assert.equal(readFileSync(body).includes('*/'), false)
  })
})

suite('audio and video', () => {
  test('have a duration and, as voice messages, a waveform', async () => {
    const { type, durationMs, waveform = [] } = await ready(wav(), 'audio/x-wav', { voice: true })
    assert.deepEqual([type, durationMs], ['audio/wav', 1000])
    assert.equal(waveform.length, 64)
    assert.ok(waveform.slice(0, 31).every((bar) => bar === 0))
    assert.ok(waveform.slice(33).every((bar) => bar > 40 && bar <= 50))
    assert.equal((await ready(wav(), 'audio/wav')).waveform, undefined)
  })

  test('have a waveform in both forms in which browsers record Opus', async () => {
    const webm = webmOpus(readOggPackets(oggOpus()))
    for (const [recorded, type] of [
      [oggOpus(), 'audio/ogg'] as const,
      [webm, 'audio/webm'] as const,
    ]) {
      const { waveform = [], ...voice } = await ready(recorded, type, { voice: true })
      assert.equal(voice.type, type)
      assert.ok(voice.durationMs && voice.durationMs > 900 && voice.durationMs < 1100)
      assert.equal(waveform.length, 64)
      assert.ok(waveform.slice(0, 28).every((bar) => bar < 5))
      assert.ok(waveform.slice(36, 60).every((bar) => bar > 30 && bar < 80))
    }
  })

  test('are served even if their content is broken', async () => {
    const cut = wav().subarray(0, 40)
    assert.equal((await ready(cut, 'audio/wav', { voice: true })).type, 'audio/wav')
  })
})

suite('hostile uploads', () => {
  const png = () => noise(20, 20).png().toBuffer()
  const cases: [string, () => Promise<Buffer> | Buffer | string, string, string][] = [
    // what it is, bytes, declared type, expected type or reason
    ['nothing', () => '', 'image/png', 'empty'],
    ['a page as a picture', () => page('alert(1)'), 'image/png', 'type'],
    ['a page as what it is', () => page('alert(1)'), 'text/html', 'text/html'],
    ['a page as text', () => page('alert(1)'), 'text/plain', 'text/html'],
    ['a page behind a comment', () => `\ufeff<!-- -->\n<HTML lang=en>`, 'text/csv', 'text/html'],
    ['a page as a video', () => page('alert(1)'), 'video/mp4', 'type'],
    ['a page as a PDF', () => page('alert(1)'), 'application/pdf', 'type'],
    ['a page without a declared type', () => page(''), 'application/octet-stream', 'text/html'],
    ['an XHTML page', () => `<?xml version="1.0"?><html/>`, 'text/xml', 'application/xhtml+xml'],
    ['SVG with a script', () => svgScript('alert(1)'), 'image/svg+xml', 'image/svg+xml'],
    ['SVG as a picture of pixels', () => svgScript('alert(1)'), 'image/png', 'type'],
    ['SVG as text', () => svgScript('alert(1)'), 'text/plain', 'image/svg+xml'],
    [
      'SVG with a document type',
      () => '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "x" [<!ENTITY a "b">]><svg/>',
      'image/svg+xml',
      'image/svg+xml',
    ],
    ['SVG in a namespace', () => '<s:svg xmlns:s="x"/>', 'application/xml', 'image/svg+xml'],
    ['a script as a picture', () => 'GIF89a=1;alert(1)', 'image/gif', 'type'],
    ['a script that is also a GIF', () => gifScript('alert(1)'), 'image/gif', 'image/gif'],
    ['a GIF as a script', () => gifScript('alert(1)'), 'text/javascript', 'type'],
    ['a picture of another format', png, 'image/jpeg', 'image/png'],
    ['a picture as a PDF', png, 'application/pdf', 'type'],
    ['a picture as a document', png, 'application/vnd.ms-excel', 'type'],
    ['a picture as text', png, 'text/plain', 'type'],
    ['a PDF', () => pdf(), 'application/pdf', 'application/pdf'],
    [
      'an archive behind a PDF',
      () => Buffer.concat([pdf(), zip('a.html', 'b')]),
      'application/pdf',
      'application/pdf',
    ],
    [
      'the same as an archive',
      () => Buffer.concat([pdf(), zip('a.html', 'b')]),
      'application/zip',
      'type',
    ],
    ['an archive as a PDF', () => zip('a.html', 'b'), 'application/pdf', 'type'],
    ['an archive', () => zip('a.html', 'b'), 'application/x-zip-compressed', 'application/zip'],
    [
      'a program as a picture',
      () => Buffer.from('\x7fELF\x02\x01\x01\0\0', 'latin1'),
      'image/png',
      'type',
    ],
    ['CSV as a spreadsheet', () => 'a,b\n1,2\n', 'application/vnd.ms-excel', 'text/plain'],
    [
      'random bytes',
      () => Buffer.from([0, 1, 2, 0xfe, 0xff]),
      'application/x-mine',
      'application/octet-stream',
    ],
    ['random bytes as a picture', () => Buffer.from([0, 1, 2, 0xfe, 0xff]), 'image/png', 'type'],
    [
      'a picture that is cut off',
      async () => (await png()).subarray(0, 200),
      'image/png',
      'unreadable',
    ],
    [
      'a picture that has only a header',
      async () => (await png()).subarray(0, 33),
      'image/png',
      'unreadable',
    ],
    ['400 million pixels in 50 KB', () => hugePng(20_000, 20_000), 'image/png', 'pixels'],
    ['many pixels in one row', () => hugePng(100_000_000, 1), 'image/png', 'pixels'],
    ['the largest picture that is read', () => hugePng(8000, 8000), 'image/png', 'image/png'],
  ]
  for (const [name, bytes, declaredType, expected] of cases) {
    test(`${name}, declared as ${declaredType}: ${expected}`, async () => {
      const inspected = await look(await bytes(), declaredType)
      if (expected.includes('/')) {
        assert.deepEqual(
          [inspected.outcome, 'type' in inspected && inspected.type],
          ['ready', expected],
        )
      } else assert.deepEqual(inspected, rejected(expected))
    })
  }

  test('another size than declared is refused', async () => {
    for (const declaredSize of [4, 6]) {
      assert.deepEqual(await look('hello', 'text/plain', { declaredSize }), rejected('size'))
    }
  })

  test('an aborted inspection ends', async () => {
    const signal = AbortSignal.abort(new Error('shut down'))
    await assert.rejects(look('hello', 'text/plain', { signal }), /shut down/)
  })
})

suite('malware', () => {
  let clamd: TestClamd
  before(async () => {
    clamd = await startClamd()
  })
  after(() => clamd.stop())

  test('is refused, whatever surrounds it', async () => {
    assert.deepEqual(await look(EICAR, 'text/plain', { clamd }), rejected('malware'))
    const archive = zip('innocent.txt', EICAR)
    assert.deepEqual(await look(archive, 'application/zip', { clamd }), rejected('malware'))
    const image = Buffer.concat([await noise(20, 20).png().toBuffer(), Buffer.from(EICAR)])
    assert.deepEqual(await look(image, 'image/png', { clamd }), rejected('malware'))
  })

  test('is not found in other files', async () => {
    const large = 'a'.repeat(STREAM_MAX_BYTES - 1)
    assert.equal((await ready(large, 'text/plain', { clamd })).size, large.length)
  })

  test('a file that clamd is too small for is refused', async () => {
    const large = 'a'.repeat(8 * STREAM_MAX_BYTES)
    assert.deepEqual(await look(large, 'text/plain', { clamd }), rejected('size'))
  })

  test('a clamd that is down is an error, not a pass', async () => {
    const nobody = createServer().listen(0, '127.0.0.1')
    await once(nobody, 'listening')
    const { port } = nobody.address() as AddressInfo
    await new Promise((resolve) => nobody.close(resolve))
    await assert.rejects(
      look('hello', 'text/plain', { clamd: { host: '127.0.0.1', port } }),
      /ECONNREFUSED/,
    )
  })

  const answers: [string, string | undefined, RegExp][] = [
    ['hangs', undefined, /silent/],
    ['hangs up', '', /without a verdict|ECONNRESET|EPIPE|Premature close/],
    [
      'hangs up in the middle of a reply',
      'stream: OK',
      /without a verdict|ECONNRESET|EPIPE|Premature close/,
    ],
    ['fails', 'INSTREAM: Can’t write temporary file. ERROR\0', /replied "INSTREAM/],
    ['never stops talking', 'x'.repeat(5_000), /without an end/],
  ]
  for (const [name, answer, expected] of answers) {
    test(`a clamd that ${name} is an error, not a pass`, async () => {
      const server = createServer((socket) => {
        socket.on('error', () => {})
        if (answer !== undefined) socket.end(answer)
      }).listen(0, '127.0.0.1')
      await once(server, 'listening')
      const { port } = server.address() as AddressInfo
      // Longer than the buffers of a connection that nobody reads.
      const path = store(Buffer.alloc(16 * STREAM_MAX_BYTES))
      const silent = { host: '127.0.0.1', port, timeoutMs: answer === undefined ? 200 : 60_000 }
      await assert.rejects(scan(path, silent), expected)
      server.close()
    })
  }

  test('a scan that is aborted ends', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    const stop = new AbortController()
    server.once('connection', () => stop.abort(new Error('shut down')))
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    await assert.rejects(scan(store('hello'), { host: '127.0.0.1', port }, stop.signal))
    server.close()
  })
})
