import type { TestApp, TestServer } from '../../server/test/kit.ts'

/** A small company with groups, threads, reactions and texts that are hard to show. */
export async function companyOf(server: TestServer): Promise<TestApp> {
  const app = await server.newApp()
  const people = {
    ...{ amira: 'Amira Haddad', ben: 'Ben Okafor', cleo: 'Cleo Laurent', daniel: 'Daniel Weiss' },
    ...{ layla: 'ليلى منصور', yuki: '佐藤 由紀' },
    long: 'Maximilian Alexander von Hohenberg-Wittelsbach the Third',
  }
  for (const [uid, name] of Object.entries(people)) await app.client.users.create({ uid, name })
  const members = { participants: ['ben', 'cleo', 'daniel', 'layla', 'yuki', 'long'] }
  await app.client.groups.create({ guid: 'release', name: 'Release 2.4', owner: 'amira', members })
  return app
}

/** Sends a text as a user and returns the message's id. */
export async function say(
  app: TestApp,
  from: string,
  to: string,
  text: string,
  more: object = {},
): Promise<string> {
  const receiverType = to === 'release' ? 'group' : 'user'
  const body = { receiver: to, receiverType, data: { text }, ...more } as const
  const { id } = await app.client.onBehalfOf(from).messages.send(body)
  return id
}

/** Puts many older messages before the first one of a conversation: one each three minutes, of 1 to 12 lines. */
export async function addHistory(app: TestApp, firstId: string, count: number): Promise<void> {
  const text = `insert into messages
      (app_no, id, conversation, sender, category, type, data, counts, shows, counted)
    select m.app_no, m.id - n * 180 * 4000000::bigint, m.conversation,
      case when n % 3 = 0 then 'ben' else m.sender end, m.category, m.type,
      jsonb_build_object('text', 'no ' || n || repeat(' lorem ipsum dolor sit amet', (n * 7) % 31)),
      false, false, m.counted - m.counts::int
    from messages m, generate_series(1, $3::int) n
    where m.app_no = $1 and m.id = $2`
  await app.cell.db.tx((tx) => tx.query({ name: '', text, values: [app.no, firstId, count] }))
}
