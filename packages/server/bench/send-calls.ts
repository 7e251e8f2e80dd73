/** Calls of `send_messages` with several messages, as the service makes them. */
import type pg from 'pg'

export interface Plain {
  app: number
  kind: 'user' | 'group'
  sender: string
  receiver: string
  /** JSON. */
  data: string
}

/** Clients of pgbench. Each has pairs of its own: a call leaves out conversations that another one has locked. */
const CLIENTS = 16
const CALLS = 'bench_calls'

/** The clock of a service on the same machine, in milliseconds. */
const CLOCK = '(extract(epoch from clock_timestamp()) * 1000)::bigint'

/** Whether this cell has the function. */
export async function sendsTogether(client: pg.Client): Promise<boolean> {
  const text = `select to_regproc('send_messages') is not null as found`
  const { rows } = await client.query<{ found: boolean }>(text)
  return rows[0]?.found ?? false
}

/** The argument of the function. */
export const toCall = (messages: Plain[]): string => `[${messages.map(toItem).join(',')}]`

function toItem({ data, ...message }: Plain, n: number): string {
  const { kind, sender, receiver } = message
  const [one, other] = kind === 'group' ? [receiver, ''] : [sender, receiver].sort()
  const fields = JSON.stringify({
    ...{ n, ...message, one, other, category: 'message', type: 'text', tags: [] },
    ...{ muid: null, credential: 'abcd', key: null, hash: null },
  })
  return `${fields.slice(0, -1)},"data":${data}}`
}

export const callStatement = (argument: string): string =>
  `select n, id, message from send_messages(${CLOCK}, ${argument})`

/**
 * Stores calls of this many 1:1 messages, because a pgbench script can't build them, and makes each of them once to see
 * that it leaves out no message. Returns the script.
 */
export async function storeCalls(client: pg.Client, direct: Plain[], size: number) {
  const perClient = Math.floor(direct.length / CLIENTS / size)
  const callsOf = (id: number) => {
    const [owner, nth] = [id % CLIENTS, Math.floor(id / CLIENTS)]
    const own = direct.filter((_, pair) => pair % CLIENTS === owner)
    return toCall(own.slice(nth * size, (nth + 1) * size))
  }
  await client.query(
    `create table if not exists ${CALLS} (size int, id int, messages json, primary key (size, id))`,
  )
  await client.query(
    `insert into ${CALLS}
     select $1, n - 1, messages::json from unnest($2::text[]) with ordinality as calls (messages, n)`,
    [size, Array.from({ length: perClient * CLIENTS }, (_, id) => callsOf(id))],
  )
  for (let id = 0; id < perClient * CLIENTS; id++) {
    const text = callStatement(`(select messages from ${CALLS} where size = $1 and id = $2)`)
    const { rowCount } = await client.query({ name: 'call', text, values: [size, id] })
    if (rowCount !== size) throw new Error(`a call sent ${rowCount} of ${size} messages`)
  }
  return `\\set id :client_id + ${CLIENTS} * random(0, ${perClient - 1})
${callStatement(`(select messages from ${CALLS} where size = ${size} and id = :id)`)};`
}
