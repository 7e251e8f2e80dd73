/** The service in a separate process, with the roles given as arguments. */
import { readConfig } from '../src/config.ts'
import { type Role, serve } from '../src/serve.ts'

const service = await serve(readConfig(process.env), process.argv.slice(2) as Role[])
// Also stops if the bench ended early.
process.once('disconnect', async () => {
  await service.drain()
  process.exit()
})
process.send?.({
  port: service.apiPort ?? service.gatewayPort,
  internalPort: service.internalPort,
})
