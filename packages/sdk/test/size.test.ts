import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'vite'

const LIMIT = 15 * 1024

/** What a browser loads of an entry. */
async function bundled(entry: string): Promise<string> {
  const built = await build({
    configFile: false,
    logLevel: 'error',
    build: {
      write: false,
      target: 'es2022',
      lib: { entry: fileURLToPath(new URL(entry, import.meta.url)), formats: ['es'] },
      minify: true,
    },
  })
  const { output } = [built].flat()[0] as { output: { code?: string }[] }
  return output.map(({ code = '' }) => code).join('')
}

test('the client is smaller than 15 KB, compressed, and loads nothing else', async () => {
  const code = await bundled('../src/client/index.ts')
  const bytes = gzipSync(code).length
  assert.ok(bytes < LIMIT, `${bytes} bytes`)
  assert.doesNotMatch(code, /\b(import|require)\b\s*\(?['"]/)
  console.log(`client: ${bytes} bytes compressed`)
})
