import type pg from 'pg'
import { getSettings } from '../areas/settings/queries.ts'
import { limitOf, type Settings, settingsInForce } from '../core/settings.ts'
import { addToTotal } from '../platform/db/totals.ts'
import { UserError } from '../platform/errors.ts'
import { type CopyRow, copyInto } from './copy.ts'
import type { Batch, Kind, Run } from './kind.ts'
import { drawFrom, pick } from './names.ts'
import { stepFor } from './order.ts'
import { drawNos, readUids } from './people.ts'

export const MEMBERS = 20
const BATCH_MEMBERS = 20_000
const YEAR_MS = 365 * 86_400_000

const GROUPS = ['app_no', 'guid', 'name', 'type', 'owner', 'tags', 'members_count', 'created_at']
const HEADS = ['app_no', 'no', 'kind', 'one', 'other']
const INBOX = ['app_no', 'uid', 'kind', 'with_id', 'conversation', 'scope', 'joined_at']

const split = (words: string) => words.split(' ')
const ADJECTIVES = split('Early Quiet Weekend Northern Golden Wandering Blue Second Open Hidden')
const TOPICS = split('Hikers Readers Cooks Gardeners Cyclists Painters Sailors Singers Neighbours')
const TAGS = split('sports music family work travel')

interface Group {
  guid: string
  nth: number
  uids: string[]
}

/** Groups without messages, so nobody has a view of them yet. */
export const groups: Kind = {
  name: 'groups',
  tables: ['groups', 'conversations', 'inbox'],
  async plan(client, run, { wanted, members = MEMBERS }) {
    const uids = await readUids(client, run.appNo)
    const settings = settingsInForce(await getSettings.one(client, { appNo: run.appNo }))
    checkSize(members, uids.length, settings)
    // All users are in one group before any user is in two.
    const rounds = Math.ceil(wanted / Math.floor(uids.length / members))
    await checkCeiling(client, run.appNo, rounds, settings)
    return batches(run, { wanted, members, uids })
  },
}

function checkSize(members: number, users: number, settings: Settings): void {
  const most = Math.min(users, limitOf(settings, 'limits.membersPerGroup'))
  if (members > most) throw new UserError(`A group can have at most ${most} members here.`)
}

async function checkCeiling(client: pg.Client, appNo: number, more: number, settings: Settings) {
  const { rows } = await client.query<{ most: number }>(
    `select coalesce(max(n), 0) as most from (
       select count(*) as n from inbox
       where app_no = $1 and kind = 'group' and scope is not null group by uid
     ) per_user`,
    [appNo],
  )
  const limit = limitOf(settings, 'limits.groupsPerUser')
  if (Number(rows[0]?.most) + more <= limit) return
  throw new UserError(
    `Users would be in more than ${limit} groups (limits.groupsPerUser). Fill more users, or fewer groups or members.`,
  )
}

interface Layout {
  wanted: number
  members: number
  uids: string[]
}

function* batches(run: Run, layout: Layout): Generator<Batch> {
  const { wanted, members } = layout
  const size = Math.max(1, Math.floor(BATCH_MEMBERS / members))
  for (let first = 0; first < wanted; first += size) {
    const count = Math.min(size, wanted - first)
    const some = Array.from({ length: count }, (_, n) => groupAt(run, layout, first + n))
    yield { add: (tx) => addGroups(tx, run, wanted, some) }
  }
}

/** Each round visits all users once, with a different step, so that different users meet. */
function groupAt(run: Run, { wanted, members, uids }: Layout, nth: number): Group {
  const perRound = Math.floor(uids.length / members)
  const round = Math.floor(nth / perRound)
  const step = stepFor(uids.length, round)
  const from = (nth % perRound) * members
  return {
    guid: `fill-${run.mark}-${String(nth).padStart(String(wanted).length, '0')}`,
    nth,
    uids: Array.from(
      { length: members },
      (_, n) => uids[(round + (from + n) * step) % uids.length] ?? '',
    ),
  }
}

async function addGroups(tx: pg.Client, run: Run, wanted: number, some: Group[]): Promise<number> {
  const nos = await drawNos(tx, some.length)
  const { appNo } = run
  await copyInto(
    tx,
    'groups',
    GROUPS,
    some.map((group) => rowOf(run, wanted, group)),
  )
  await copyInto(
    tx,
    'conversations',
    HEADS,
    some.map(({ guid }, n) => [appNo, nos[n] ?? 0, 'group', guid, '']),
  )
  await copyInto(tx, 'inbox', INBOX, memberRows(run, wanted, some, nos))
  await addToTotal(tx, appNo, 'groups', some.length)
  return some.length
}

function rowOf({ appNo, startedAt }: Run, wanted: number, { guid, nth, uids }: Group): CopyRow {
  const draw = drawFrom(nth)
  return [
    ...[appNo, guid, `${pick(draw, ADJECTIVES)} ${pick(draw, TOPICS)} ${nth + 1}`],
    ...[draw(4) === 0 ? 'private' : 'public', uids[0] ?? ''],
    ...[draw(3) === 0 ? `{${pick(draw, TAGS)}}` : '{}', uids.length],
    createdAt(startedAt, nth, wanted).toISOString(),
  ]
}

const createdAt = (startedAt: Date, nth: number, wanted: number) =>
  new Date(startedAt.getTime() - YEAR_MS * (1 - nth / wanted))

/** The owner is an admin, and every tenth member a moderator. Members join a millisecond apart. */
function* memberRows(
  { appNo, startedAt }: Run,
  wanted: number,
  some: Group[],
  nos: number[],
): Generator<CopyRow> {
  for (const [n, { guid, nth, uids }] of some.entries()) {
    const from = createdAt(startedAt, nth, wanted).getTime()
    for (const [index, uid] of uids.entries()) {
      const scope = index === 0 ? 'admin' : index % 10 === 0 ? 'moderator' : 'participant'
      const joinedAt = new Date(from + index).toISOString()
      yield [appNo, uid, 'group', guid, nos[n] ?? 0, scope, joinedAt]
    }
  }
}
