/** The app that bench/send.ts writes to, and its sends: as requests and as pgbench scripts. */
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { fillApp } from '../src/fill/fill.ts'
import { messages } from '../src/fill/messages.ts'
import { users } from '../src/fill/users.ts'
import { connectionConfig } from '../src/platform/db/db.ts'
import type { BenchApp } from './installation.ts'
import { requestOf } from './processes.ts'
import type { Plain } from './send-calls.ts'
import { UNIQUE } from './unique.ts'

const USERS = 20_000
/** The number of the first sender. From here on, numbers have no leading zeros. */
const FIRST = 10_000
export const PAIRS = 5_000
/** Number of groups of each size: several, so that senders seldom wait for each other. */
export const GROUPS = 8
export const TEXT = 'Shall we meet at the station at nine, or is that too early for you?'
const DATA = JSON.stringify({ text: TEXT })

/** Plain tables for comparison: for one-row inserts with one key, and for updates of one row. */
const BARE_TABLES = `
  create table if not exists bench_plain (
    id bigint generated always as identity primary key, conversation bigint not null,
    sender text not null, data jsonb not null, sent_at timestamptz not null default clock_timestamp());
  create table if not exists bench_row (id int primary key, n bigint not null) with (fillfactor = 50);
  insert into bench_row values (1, 0) on conflict do nothing`

/** The call of `send_message` that the service makes, with SQL expressions as arguments. */
export const sendStatement = (app: string, kind: string, sender: string, receiver: string) =>
  `select message_id, message from send_message(${app}, ${kind}, ${sender}, ${receiver}, 'message', 'text', '${DATA}'::jsonb, '{}', null, '', '\\xabcd', null, null)`

export const insertInto = (conversation: string) =>
  `insert into bench_plain (conversation, sender, data) values (${conversation}, 'fill-0123abcd-10000', '${DATA}')`

/** The statement to compare with, and the same as a pgbench script. */
export const ONE_INSERT = insertInto('1')
export const INSERT = `\\set n random(1, ${PAIRS})
${insertInto(':n')};`
export const UPDATE = 'update bench_row set n = n + 1 where id = 1;'

/** Fills the app with users and messages, and adds groups of these sizes. */
export async function prepare(app: BenchApp, sizes: number[]): Promise<SendData> {
  const run = { onProgress: () => {}, signal: new AbortController().signal }
  await fillApp(app, { kind: users, wanted: USERS, ...run })
  await fillApp(app, { kind: messages, wanted: 200_000, conversations: 20_000, ...run })
  const client = new pg.Client({ ...connectionConfig(app.cell.url), statement_timeout: 0 })
  await client.connect()
  try {
    await client.query(BARE_TABLES)
    const data = new SendData(app, client, await prefixOf(client, app.no))
    await data.openPairs()
    for (const members of sizes) await data.addGroups(members)
    await client.query('vacuum (analyze)')
    return data
  } catch (error) {
    await client.end()
    throw error
  }
}

/** The prefix of all uids of the fill. */
async function prefixOf(client: pg.Client, appNo: number): Promise<string> {
  const text = 'select min(uid) as uid from users where app_no = $1'
  const { rows } = await client.query<{ uid: string }>(text, [appNo])
  return (rows[0]?.uid ?? '').replace(/\d+$/, '')
}

export class SendData {
  readonly app: BenchApp
  readonly client: pg.Client
  readonly #prefix: string

  constructor(app: BenchApp, client: pg.Client, prefix: string) {
    this.app = app
    this.client = client
    this.#prefix = prefix
  }

  /** Sends between two random users who already have a conversation. */
  get direct(): string {
    return `\\set n ${FIRST} + 2 * random(0, ${PAIRS - 1})
\\set other :n + 1
${this.#call('user', ':n', `'${this.#prefix}' || :other`)}`
  }

  /** From one user of each pair to the other. */
  get pairs(): Plain[] {
    return Array.from({ length: PAIRS }, (_, pair) => {
      const sender = FIRST + 2 * pair
      return this.#plain('user', sender, `${this.#prefix}${sender + 1}`)
    })
  }

  get directSends(): string[] {
    return this.pairs.map((message) => this.#request(message))
  }

  /** The same with an idempotency key and a muid, as the SDK sends every message. */
  get keyedSends(): string[] {
    return this.pairs.map((message) => this.#request(message, UNIQUE))
  }

  /** Sends between two random users who most likely don't have a conversation yet. */
  get newConversations(): string {
    return `\\set n random(${FIRST}, ${USERS - 1})
\\set other random(${FIRST}, ${USERS - 1})
${this.#call('user', ':n', `'${this.#prefix}' || :other`)}`
  }

  /** All clients send to one group, each as one of its members. */
  crowd(members: number): string {
    return `\\set n ${FIRST} + :client_id
${this.#call('group', ':n', `'${guidOf(members, 0)}'`)}`
  }

  crowdSends(members: number): string[] {
    return this.toGroups(members)
      .filter(({ receiver }) => receiver === guidOf(members, 0))
      .map((message) => this.#request(message))
  }

  /** From all members of all groups of this size. */
  toGroups(members: number): Plain[] {
    return Array.from({ length: members * GROUPS }, (_, n) =>
      this.#plain('group', FIRST + Math.floor(n / GROUPS), guidOf(members, n % GROUPS)),
    )
  }

  groupSends(members: number): string[] {
    return this.toGroups(members).map((message) => this.#request(message))
  }

  /** Each client sends to a different group, as a random member. */
  group(members: number): string {
    return `\\set n random(${FIRST}, ${FIRST + members - 1})
${this.#call('group', ':n', `'${guidOf(members, '')}' || :client_id`)}`
  }

  #call(kind: string, sender: string, receiver: string): string {
    const uid = `'${this.#prefix}' || ${sender}`
    return `${sendStatement(String(this.app.no), `'${kind}'`, uid, receiver)};`
  }

  #plain(kind: Plain['kind'], sender: number, receiver: string): Plain {
    const uid = `${this.#prefix}${sender}`
    return { app: this.app.no, kind, sender: uid, receiver, data: DATA }
  }

  #request({ kind, sender, receiver }: Plain, key?: string): string {
    const message = { receiverType: kind, receiver, data: { text: TEXT }, muid: key }
    const body = JSON.stringify(message)
    return requestOf(this.app, { line: 'POST /v3/messages', uid: sender, body, key })
  }

  /** Resolves when the worker has given every event its position. */
  async sequenced(): Promise<void> {
    const text = 'select exists (select from outbox) as waiting'
    while ((await this.client.query(text)).rows[0].waiting) await sleep(20)
  }

  async openPairs(): Promise<void> {
    const statement = sendStatement('$1', `'user'`, '$2 || n', '$2 || (n + 1)')
    await this.client.query(
      `select message_id
       from generate_series(${FIRST}, ${FIRST + 2 * PAIRS - 2}, 2) n, lateral (${statement}) sent`,
      [this.app.no, this.#prefix],
    )
  }

  async addGroups(members: number): Promise<void> {
    for (let nth = 0; nth < GROUPS; nth++) {
      const values = [this.app.no, guidOf(members, nth), this.#prefix]
      await this.client.query(
        `with made as (
           insert into groups (app_no, guid, name, type, owner, members_count)
           values ($1, $2, $2, 'public', $3 || ${FIRST}, ${members})
         ), head as (
           insert into conversations (app_no, kind, one, other) values ($1, 'group', $2, '')
           returning no
         )
         insert into inbox (app_no, uid, kind, with_id, conversation, scope, joined_at)
         select $1, $3 || n, 'group', $2, no,
           case when n = ${FIRST} then 'admin' else 'participant' end, clock_timestamp()
         from head, generate_series(${FIRST}, ${FIRST + members - 1}) n`,
        values,
      )
      await this.client.query(`select add_total($1, 'groups', 1)`, [this.app.no])
      // The first message costs more than those that are measured: it gives all members a view.
      await this.client.query(sendStatement('$1', `'group'`, `$3 || ${FIRST}`, '$2'), values)
    }
  }
}

const guidOf = (members: number, nth: number | '') => `bench-${members}-${nth}`
