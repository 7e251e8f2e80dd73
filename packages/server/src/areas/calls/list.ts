import { CALL_MODES, CALL_STATUSES, CALL_TYPES, type CallStatus } from '@loquat/protocol'
import type { Actor } from '../../core/actor.ts'
import { firstIdOf } from '../../core/ids.ts'
import type { Deps } from '../../deps.ts'
import type { Executor } from '../../platform/db/query.ts'
import { Sql, sql } from '../../platform/db/sql.ts'
import { getTotal } from '../../platform/db/totals.ts'
import { type Count, countFound } from '../../platform/lists/count.ts'
import { findStart, type Keyed, type Keyset, keyOf, listNext } from '../../platform/lists/keyset.ts'
import { keysetPage, type Paging } from '../../platform/lists/page.ts'
import { countWalked, walkOn } from '../../platform/lists/strategies.ts'
import { filesOf } from './change.ts'
import { RING_SECONDS } from './limits.ts'
import { CALL_COLUMNS, type CallRow, listParticipants } from './queries.ts'
import { toRecord } from './record.ts'
import type { CallListQuery } from './schema.ts'

const COUNT_CAP = 10_000
/** Calls read per statement, if a filter has no index. */
const WALK = 10_000

type ListedCall = CallRow & Keyed

const KINDS = ['user', 'group'] as const

/** One of several values is an index range of its own. */
const each = <T extends string>(wanted: T | undefined, all: readonly T[]) =>
  wanted === undefined ? all : [wanted]

const statusOf = ({ status }: CallListQuery) => (status === 'canceled' ? 'cancelled' : status)

/** The statuses of calls that can match. Only calls that somebody answered have times, recordings and transcriptions. */
function statusesOf(query: CallListQuery): CallStatus[] {
  const { startedAt, endedAt, hasRecording, hasTranscription } = query
  const answered = startedAt !== undefined || hasRecording || hasTranscription
  const possible: readonly CallStatus[] =
    endedAt !== undefined ? ['ended'] : answered ? ['ongoing', 'ended'] : CALL_STATUSES
  return each(statusOf(query), CALL_STATUSES).filter((status) => possible.includes(status))
}

/** The filter that begins an index: an index of its own has only such calls, or has them together. */
function first({ hasRecording, hasTranscription, participantsCount }: CallListQuery): Sql {
  if (hasRecording) return sql`c.recorded`
  if (hasTranscription) return sql`c.transcribed`
  return participantsCount === undefined ? sql`true` : sql`c.joined = ${participantsCount}`
}

/**
 * Calls of the app, newest first. Indexes have all filters with few values before the id, so every combination of them
 * is at most 84 ranges in list order.
 */
function rangesOf(appNo: number, query: CallListQuery): Sql[] {
  const { page: _page, perPage: _perPage, uid: _uid, ...filters } = query
  if (Object.values(filters).every((one) => one === undefined || one === false))
    return [sql`from calls c where c.app_no = ${appNo}`]
  const ranges = statusesOf(query).flatMap((status) =>
    each(query.type, CALL_TYPES).flatMap((type) =>
      each(query.receiverType, KINDS).flatMap((kind) =>
        each(query.mode, CALL_MODES).map(
          (mode) => sql`from calls c where c.app_no = ${appNo} and ${first(query)}
            and c.status = ${status} and c.type = ${type} and c.kind = ${kind} and c.mode = ${mode}`,
        ),
      ),
    ),
  )
  return ranges.length > 0 ? ranges : [sql`from calls c where c.app_no = ${appNo} and false`]
}

/** Bounds of the id that follow from the times, because a call is answered while it rings. */
const between = ({ startedAt, endedAt }: CallListQuery, id: Sql): Sql[] => [
  ...(startedAt === undefined
    ? []
    : [sql`${id} >= ${firstIdOf(startedAt - RING_SECONDS - 5)}::bigint`]),
  ...(endedAt === undefined ? [] : [sql`${id} < ${firstIdOf(endedAt + 1)}::bigint`]),
]

const and = (from: Sql, conditions: readonly Sql[]): Sql =>
  conditions.reduce((all, one) => sql`${all} and ${one}`, from)

const flag = (column: Sql, wanted: boolean | undefined): Sql[] =>
  wanted === undefined ? [] : [wanted ? column : sql`not ${column}`]

/** What no index decides. A user's calls are few enough to look at each. */
function conditionsOf(query: CallListQuery, owned: boolean): Sql[] {
  const { participantsCount, startedAt, endedAt, hasRecording, hasTranscription } = query
  const status = statusOf(query)
  const ranged = {
    recorded: !owned && hasRecording,
    transcribed: !owned && !hasRecording && hasTranscription,
    joined: !owned && !hasRecording && !hasTranscription,
  }
  return [
    ...(ranged.recorded ? [] : flag(sql`c.recorded`, hasRecording)),
    ...(ranged.transcribed ? [] : flag(sql`c.transcribed`, hasTranscription)),
    ...(participantsCount === undefined || ranged.joined
      ? []
      : [sql`c.joined = ${participantsCount}`]),
    ...(startedAt === undefined ? [] : [sql`c.started_at >= to_timestamp(${startedAt}::float8)`]),
    ...(endedAt === undefined ? [] : [sql`c.ended_at < to_timestamp(${endedAt}::float8 + 1)`]),
    ...(owned && status !== undefined ? [sql`c.status = ${status}`] : []),
    ...(owned && query.type !== undefined ? [sql`c.type = ${query.type}`] : []),
    ...(owned && query.mode !== undefined ? [sql`c.mode = ${query.mode}`] : []),
    ...(owned && query.receiverType !== undefined ? [sql`c.kind = ${query.receiverType}`] : []),
  ]
}

function keysetOf(appNo: number, viewer: string | undefined, query: CallListQuery): Keyset {
  const owner = viewer ?? query.uid
  const id = owner === undefined ? sql`c.id` : sql`p.call_id`
  const both = viewer !== undefined && query.uid !== undefined && query.uid !== viewer
  const ranges =
    owner === undefined
      ? rangesOf(appNo, query)
      : [
          sql`from call_participants p join calls c on c.app_no = p.app_no and c.id = p.call_id
            where p.app_no = ${appNo} and p.uid = ${owner} and p.no = 0
              and ${viewer === undefined ? sql`true` : sql`not p.hidden`}`,
        ]
  return {
    ...{ name: 'calls', key: undefined, keyType: 'bigint', id, descending: true },
    ranges: ranges.map((range) => and(range, between(query, id))),
    where: [
      ...conditionsOf(query, owner !== undefined),
      ...(both
        ? [
            sql`exists (select from call_participants o
              where o.app_no = ${appNo} and o.call_id = c.id and o.uid = ${query.uid} and o.no = 0)`,
          ]
        : []),
    ],
    row: sql`c`,
    looked: sql`c.*`,
    columns: new Sql([CALL_COLUMNS], []),
    join: sql`join calls c on c.app_no = ${appNo} and c.id = sort_id`,
  }
}

const ofList = (db: Executor, list: Keyset, count: () => Promise<Count>): Paging<ListedCall> =>
  list.where.length === 0
    ? {
        keyOf,
        read: async (after, limit) => ({
          rows: await listNext<CallRow>(db, list, { after, limit }),
        }),
        startOf: (number, from) => findStart(db, list, number, from),
        count,
      }
    : {
        keyOf,
        read: async (after, limit) => ({
          rows: await walkOn<CallRow>(db, list, { after, limit }, WALK),
        }),
        async startOf(number, from) {
          const range = { after: from, offset: number - 1, limit: 1 }
          const [row] = await walkOn<CallRow>(db, list, range, WALK)
          return row && keyOf(row)
        },
        count: () => countWalked(db, list, { width: WALK, cap: COUNT_CAP }),
      }

/** A page of the calls that the app or the acting user can see. */
export async function pageOfCalls(deps: Deps, actor: Actor, query: CallListQuery) {
  const { app, uid: viewer, credential } = actor
  const { page, perPage, ...filters } = query
  const db = app.cell.db
  const list = keysetOf(app.no, viewer, query)
  const whole = viewer === undefined && Object.values(filters).every((one) => one === undefined)
  const count = async (): Promise<Count> =>
    whole
      ? { total: await getTotal(db, app.no, 'calls'), capped: false }
      : countFound(db, list, COUNT_CAP)
  const found = await keysetPage(
    { secrets: deps.secrets, starts: deps.starts },
    {
      ...ofList(db, list, count),
      name: ['calls', app.no],
      filters: [credential.toString('base64'), viewer ?? null, filters],
    },
    { page, perPage },
  )
  const ids = found.rows.map(({ id }) => id)
  const places = ids.length > 0 ? await listParticipants.many(db, { appNo: app.no, ids }) : []
  const byCall = Map.groupBy(places, (row) => row.call_id)
  const files = Map.groupBy(await filesOf(db, app.no, found.rows), (row) => row.call_id)
  const { pagination } = found.meta
  return {
    data: found.rows.map((row) =>
      toRecord(app, row, byCall.get(row.id) ?? [], files.get(row.id) ?? []),
    ),
    meta: { pagination },
  }
}
