import { env } from 'node:process'
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

export default defineConfig(({ command }) => ({
  plugins: [englishOnly, react()],
  // The api serves these files at /console/ on manage.<host> and at /manage/console/ on all other hosts.
  base: command === 'serve' ? '/manage/console/' : './',
  build: { assetsInlineLimit: 0, modulePreload: { polyfill: false } },
  // During development, `loquat dev` answers all other requests.
  server: { proxy: { '^/manage/(?!console/)': env.LOQUAT_URL ?? 'http://localhost:3000' } },
}))
