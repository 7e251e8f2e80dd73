/** The process whose CPU bench/auth.ts measures: the service and the bare route, each on a port. */
import type { AddressInfo } from 'node:net'
import Fastify from 'fastify'
import { toApiKey } from '../src/areas/apikeys/actions.ts'
import { findApiKey } from '../src/areas/apikeys/queries.ts'
import { ApiKey } from '../src/areas/apikeys/schema.ts'
import { storeSettings } from '../src/areas/settings/actions.ts'
import { readConfig } from '../src/config.ts'
import { Data } from '../src/platform/http/schemas.ts'
import { serve } from '../src/serve.ts'
import { cloneDatabase, insertCell, testEnv } from '../test/databases.ts'
import { newApp } from '../test/kit.ts'

const directoryUrl = await cloneDatabase('directory')
await insertCell(directoryUrl, 'us-1', await cloneDatabase('cell'))
// Writes one log line per request, as in production; the bench discards them.
const env = testEnv(directoryUrl, ['us-1'], { LOQUAT_LOG_LEVEL: 'info' })
const service = await serve(readConfig(env), ['api'])
const app = await newApp(service)
await storeSettings(service.deps, app, { 'rate.standard': 1_000_000_000 })

const { secrets } = service.deps
const bare = Fastify()
bare.get<{ Params: { apiKey: string } }>(
  '/v3/apikeys/:apiKey',
  { schema: { response: { 200: Data(ApiKey) } } },
  async ({ params }) => {
    const keyHash = secrets.hash(params.apiKey)
    const row = await findApiKey.one(app.cell.db, { appNo: app.no, keyHash })
    return { data: toApiKey(secrets, row) }
  },
)
await bare.listen({ host: '127.0.0.1', port: 0 })

let last = process.cpuUsage()
process.on('message', async (message) => {
  if (message === 'cpu') {
    const { user, system } = process.cpuUsage(last)
    last = process.cpuUsage()
    process.send?.(user + system)
  } else {
    await bare.close()
    await service.drain()
    process.exit()
  }
})
process.send?.({
  ports: { service: service.apiPort, bare: (bare.server.address() as AddressInfo).port },
  path: `/v3/apikeys/${app.authKey}`,
  headers: { appid: app.id, apikey: app.apiKey },
})
