import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

/**
 * The console speaks English: of the texts that the component library brings in some thirty languages, the others are
 * left out.
 */
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
  // The same files stand at /console/ of manage.<host> and at /manage/console/ elsewhere.
  base: command === 'serve' ? '/manage/console/' : './',
  build: { assetsInlineLimit: 0, modulePreload: { polyfill: false } },
  // While pages are written: everything else is answered by `loquat dev`.
  server: { proxy: { '^/manage/(?!console/)': 'http://localhost:3000' } },
}))
