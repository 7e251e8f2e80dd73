import { env } from 'node:process'
import { defineConfig } from 'vite'

/** Serves the page, Loquat and the example server from one origin, so that no CORS setup is needed. */
const loquat = env.LOQUAT_URL ?? 'http://localhost:3000'
const application = `http://127.0.0.1:${env.PORT ?? 4000}`

export default defineConfig({
  server: {
    host: '127.0.0.1',
    proxy: { '/v3': { target: loquat, ws: true }, '/session': application, '/people': application },
  },
})
