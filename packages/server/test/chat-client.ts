/** The SDK's client of a user, online, which follows the answers of agents. */
import type { TestContext } from 'node:test'
import { Answers } from '@loquat/sdk/agents'
import { LoquatClient } from '@loquat/sdk/client'
import { tokenOf } from './device.ts'
import type { TestApp, TestServer } from './kit.ts'
import { until } from './until.ts'

export async function clientOf(
  t: TestContext,
  { service }: { service: Pick<TestServer['service'], 'apiPort' | 'gatewayPort'> },
  app: TestApp,
  uid: string,
): Promise<LoquatClient> {
  const client = new LoquatClient({
    ...{ appId: app.id, uid, authToken: await tokenOf(app, uid) },
    baseUrl: `http://127.0.0.1:${service.apiPort}`,
    realtimeUrl: `ws://127.0.0.1:${service.gatewayPort}/v3/realtime?appId=${app.id}`,
    Answers,
  })
  t.after(() => client.stop())
  client.start()
  await until('the client is online', () => client.state.connection === 'online')
  return client
}
