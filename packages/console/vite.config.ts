import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

export default defineConfig({
  plugins: [react()],
  // The same files stand at /console/ of manage.<host> and at /manage/console/ elsewhere.
  base: './',
  build: { assetsInlineLimit: 0, modulePreload: { polyfill: false } },
})
