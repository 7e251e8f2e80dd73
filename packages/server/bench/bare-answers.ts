/** A plain Fastify server that reads each answer from PostgreSQL in one lookup, and sends it as it is. */
import type { AddressInfo } from 'node:net'
import Fastify from 'fastify'
import pg from 'pg'

const pool = new pg.Pool({ connectionString: process.argv[2], max: 10 })
const app = Fastify()
app.get('/*', async ({ url, headers }, reply) => {
  const { rows } = await pool.query<{ answer: string }>({
    name: 'answer',
    text: 'select answer from bench_answers where url = $1 and uid = $2',
    values: [url, headers.onbehalfof ?? ''],
  })
  return reply.type('application/json; charset=utf-8').send(rows[0]?.answer)
})
await app.listen({ host: '127.0.0.1', port: 0 })
process.once('disconnect', () => process.exit())
process.send?.({ port: (app.server.address() as AddressInfo).port })
