import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { env } from 'node:process'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

/** Leaves out all translations of the component library except the English one: the console is in English. */
const englishOnly: Plugin = {
  name: 'english-only',
  enforce: 'pre',
  load: {
    filter: { id: /[/\\]react-(aria|stately|aria-components)[/\\].*[/\\][a-z]{2}-[A-Z]{2}\.m?js$/ },
    handler: (id) => (id.includes('en-US') ? null : 'export default undefined'),
  },
}

/** Quality 11 takes ten times as long and saves another 4 %. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }

/** Writes every file compressed too. The api sends the form that the browser accepts. */
const compressed: Plugin = {
  name: 'compressed',
  apply: 'build',
  writeBundle({ dir = '' }, bundle) {
    for (const name of Object.keys(bundle)) {
      const path = join(dir, name)
      const content = readFileSync(path)
      writeFileSync(`${path}.br`, brotliCompressSync(content, BROTLI))
      writeFileSync(`${path}.gz`, gzipSync(content))
    }
  },
}

export default defineConfig(({ command }) => ({
  plugins: [englishOnly, react(), compressed],
  // The api serves these files at /console/ on manage.<host> and at /manage/console/ on all other hosts.
  base: command === 'serve' ? '/manage/console/' : './',
  build: { assetsInlineLimit: 0, modulePreload: { polyfill: false } },
  // During development, `loquat dev` answers all other requests.
  server: {
    proxy: { '^/manage/(?!console/(?!email-frame))': env.LOQUAT_URL ?? 'http://localhost:3000' },
  },
}))
