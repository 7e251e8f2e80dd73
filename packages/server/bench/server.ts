/** The service in a process of its own, in the roles that its arguments name. */
import { readConfig } from '../src/config.ts'
import { type Role, serve } from '../src/serve.ts'

const service = await serve(readConfig(process.env), process.argv.slice(2) as Role[])
// Also when the bench was ended before its time.
process.once('disconnect', async () => {
  await service.drain()
  process.exit()
})
process.send?.({ port: service.apiPort ?? service.gatewayPort })
