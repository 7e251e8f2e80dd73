/** Model servers on private addresses, which the operator of the installation allows. */
import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import { refused, useServer } from '../../../test/kit.ts'
import { modelServer, useModelServer } from '../../../test/model-server.ts'
import { until } from '../../../test/until.ts'

const { models, start, end } = modelServer(() => ['At home'])
// The installation has to know its URL.
await start()
after(end)
const others = useModelServer(() => ['Elsewhere'])
const server = useServer({
  roles: ['api', 'worker'],
  env: { LOQUAT_PRIVATE_MODEL_URLS: models.url },
})

suite('a private model server', () => {
  test('answers if the operator allows its URL', async () => {
    const app = await server.newApp()
    const [amira] = await app.users('amira')
    const { url, key } = models
    await app.client.modelProviders.create({ id: 'house', name: 'House', url, key })
    const { uid } = await app.client.agents.create({ name: 'Helper', providerId: 'house' })
    const { id } = await amira.sendText(uid, 'Where are you?')
    const run = await until('an answer', async () => {
      const { data } = await app.client.agentRuns.list()
      return data.find(({ messageId, endedAt }) => messageId === id && endedAt)
    })
    assert.equal(run.reason, 'answered')
    assert.equal(models.calls.length, 1)
  })

  test('is refused if it is another one, another path of it, or no model', async () => {
    const app = await server.newApp()
    const { modelProviders, apiTools, mcpServers, externalAgents } = app.client
    for (const url of [others.url, `${models.url}/../api`, `${models.url}?x=`]) {
      const provider = { id: 'other', name: 'Other', url }
      await refused(modelProviders.create(provider), 'ERR_BAD_REQUEST')
    }
    const { url } = models
    const tool = { slug: 't', description: 'T', method: 'POST' as const, enableBasicAuth: false }
    await refused(apiTools.create({ ...tool, endpoint: url }), 'ERR_BAD_REQUEST')
    await refused(mcpServers.create({ slug: 'm', name: 'M', url }), 'ERR_BAD_REQUEST')
    const agent = { name: 'A', icon: 'https://example.com/a.png', integrateWith: 'ag-ui' }
    const integrationMeta = { baseUrl: url }
    await refused(
      externalAgents.create({ ...agent, integrationType: 'agent', integrationMeta }),
      'ERR_BAD_REQUEST',
    )
  })
})
