import type { GroupRecord, MessageRecord, UserRecord } from '@loquat/protocol'
import { type Actor, isModerator } from '../../core/actor.ts'
import { findEntities } from '../../core/entities.ts'
import { firstIdOf, secondOf } from '../../core/ids.ts'
import { asSeenBy, toMessages } from '../../core/message-record.ts'
import { listReferred } from '../../core/message-rows.ts'
import { seconds } from '../../core/time.ts'
import { fail } from '../../platform/http/fail.ts'
import { cutPage, idRange } from '../../platform/http/id-page.ts'
import { toFlag } from './flags.actions.ts'
import { listFlags } from './flags.queries.ts'
import {
  filterItems,
  findItem,
  findOrigin,
  type ItemFilter,
  type ItemRow,
  listClaims,
  listContext,
  listFigures,
  listItemsDown,
  listItemsUp,
  listReviewsOf,
} from './queue.queries.ts'
import type {
  FigureQuery,
  ReviewItem,
  ReviewItemInContext,
  ReviewItemQuery,
} from './queue.schema.ts'
import { listFlagReasons } from './reasons.actions.ts'
import { listHeld } from './reviews.queries.ts'
import { listSubjectFlags } from './subjects.queries.ts'

/** Items that are looked at for a page with filters: at a time, and at most. */
const BATCH = 1_000
const BATCHES = 5

/** Everything that waits for a moderator, oldest first. */
export async function listReviewItems(actor: Actor, query: ReviewItemQuery) {
  const { found, next } = await findItems(actor, query)
  const data = await describe(actor, found)
  const current = { limit: query.limit, count: data.length }
  const affix = query.affix ?? 'append'
  return {
    data,
    meta: { current, ...(next !== undefined && { next: { affix, id: String(next) } }) },
  }
}

/**
 * The items of a page. With filters, a page can be shorter than asked for although there are more: at most 5,000 items
 * are looked at for one.
 */
async function findItems(
  actor: Actor,
  query: ReviewItemQuery,
): Promise<{ found: ItemRow[]; next: number | undefined }> {
  const { no: appNo, cell } = actor.app
  const { kind = null, from, to } = query
  const { down, ...range } = idRange(query)
  const list = down ? listItemsDown : listItemsUp
  const within = {
    after: Math.max(range.after, from === undefined ? 0 : firstIdOf(from) - 1),
    before: Math.min(range.before, to === undefined ? Number.MAX_SAFE_INTEGER : firstIdOf(to)),
  }
  const filter = filterOf(query)
  if (!filter) {
    const rows = await list.many(cell.db, { appNo, ...within, limit: range.limit, kind })
    const { shown, meta } = cutPage(rows, query)
    return { found: shown, next: meta.next && Number(meta.next.id) }
  }
  const found: ItemRow[] = []
  for (let n = 0; n < BATCHES; n++) {
    const rows = await list.many(cell.db, { appNo, ...within, limit: BATCH, kind })
    const ids = rows.map(({ id }) => id)
    const asked = { ...filter, appNo, ids, viewer: null, moderates: isModerator(actor) }
    const matching = new Set((await filterItems.many(cell.db, asked)).map(({ id }) => id))
    found.push(...rows.filter(({ id }) => matching.has(id)))
    const last = rows.at(-1)
    if (found.length > query.limit) {
      const { shown, meta } = cutPage(found, query)
      return { found: shown, next: meta.next && Number(meta.next.id) }
    }
    if (!last || rows.length < BATCH) return { found: inOrder(found, down), next: undefined }
    within[down ? 'before' : 'after'] = last.id
  }
  return { found: inOrder(found, down), next: within[down ? 'before' : 'after'] }
}

const inOrder = (found: ItemRow[], down: boolean) => (down ? found.reverse() : found)

function filterOf({
  sender,
  receiver,
  ruleId,
  searchKey,
}: ReviewItemQuery): ItemFilter | undefined {
  if ([sender, receiver, ruleId, searchKey].every((one) => !one)) return undefined
  return {
    ...{ sender: sender ?? null, receiver: receiver ?? null },
    ...{ ruleId: ruleId || null, searchKey: searchKey || null },
  }
}

/** Items whose message, user or group is gone are left out. */
async function describe(actor: Actor, items: ItemRow[]): Promise<ReviewItem[]> {
  const { no: appNo, cell } = actor.app
  const ids = items.map(({ id }) => id)
  if (ids.length === 0) return []
  const messages = await messagesOf(actor, ids)
  const reviews = byId(await listReviewsOf.many(cell.db, { appNo, ids }), ({ id }) => id)
  const claims = byId(await listClaims.many(cell.db, { appNo, ids }), ({ item_id }) => item_id)
  const reasons = byId(await listFlagReasons(actor.app), ({ id }) => id)
  const subjects = await listSubjectFlags.many(cell.db, { appNo, ids })
  const flags = Map.groupBy(
    [...(await listFlags.many(cell.db, { appNo, ids })), ...subjects],
    ({ message_id }) => message_id,
  )
  const records = await entitiesOf(actor, subjects)
  return items.flatMap(({ id, kind }): ReviewItem[] => {
    const own = flags.get(id) ?? []
    const subject = subjects.find((flag) => flag.message_id === id)
    const record = subject && records.get(`${subject.kind} ${subject.subject}`)
    const message = subject ? undefined : messages.get(id)
    if (!record && !message) return []
    const claim = claims.get(id)
    return [
      {
        ...{ id: String(id), kind, createdAt: secondOf(id) },
        ...(message && { message }),
        ...(record && 'uid' in record && { user: record }),
        ...(record && 'guid' in record && { group: record }),
        ...reviewFields(reviews.get(id)),
        flaggedBy: own.map((flag) => toFlag(flag, reasons.get(flag.reason_id))),
        ...(claim && { claim: { moderator: claim.moderator, until: seconds(claim.until) } }),
      },
    ]
  })
}

const byId = <R, K>(rows: R[], idOf: (row: R) => K) => new Map(rows.map((row) => [idOf(row), row]))

async function messagesOf(actor: Actor, ids: number[]): Promise<Map<number, MessageRecord>> {
  const { no: appNo, cell } = actor.app
  const moderator = { viewer: null, moderates: isModerator(actor) }
  const rows = [
    ...(await listReferred.many(cell.db, { appNo, ids })),
    // Last, because a withheld message is among the others as a deleted one.
    ...(await listHeld.many(cell.db, { appNo, ids, ...moderator })),
  ]
  const records = await toMessages(cell.db, appNo, rows, asSeenBy(actor))
  return byId(records, ({ id }) => Number(id))
}

async function entitiesOf(
  { app: { no: appNo, cell } }: Actor,
  subjects: { kind: 'user' | 'group'; subject: string }[],
): Promise<Map<string, UserRecord | GroupRecord>> {
  if (subjects.length === 0) return new Map()
  const named = (kind: string) => [
    ...new Set(subjects.filter((one) => one.kind === kind).map(({ subject }) => subject)),
  ]
  const asked = { appNo, viewer: null, uids: named('user'), guids: named('group'), system: false }
  const rows = await findEntities.many(cell.db, asked)
  return new Map(rows.map(({ kind, id, record }) => [`${kind} ${id}`, JSON.parse(record)]))
}

function reviewFields(row: Awaited<ReturnType<typeof listReviewsOf.many>>[number] | undefined) {
  if (!row) return {}
  const { rule_id, rule_name, revision_id, condition, found, reason } = row
  return {
    ...(rule_id !== null && { ruleId: rule_id }),
    ...(rule_name !== null && { ruleName: rule_name }),
    ...(revision_id !== null && { revisionId: revision_id }),
    condition: { ...(condition !== null && { id: condition }), ...(found !== null && { found }) },
    ...(reason !== null && { reason }),
  }
}

export const noItem = (id: string) => fail('ERR_REVIEW_ITEM_NOT_FOUND', { id })

/** An item with the messages around it. */
export async function getReviewItem(actor: Actor, id: string): Promise<ReviewItemInContext> {
  const { no: appNo, cell } = actor.app
  const row = await findItem.maybeOne(cell.db, { appNo, id })
  const [item] = row ? await describe(actor, [{ ...row, id: Number(id) }]) : []
  if (!item) throw noItem(id)
  const asked = { appNo, id: Number(id), viewer: null, moderates: isModerator(actor) }
  const origin = item.message ? await findOrigin.maybeOne(cell.db, asked) : undefined
  if (!origin) return { ...item, before: [], after: [] }
  const { conversation } = origin
  const around = await listContext.many(cell.db, { appNo, conversation, id: Number(id) })
  const found = await messagesOf(
    actor,
    around.map((one) => one.id),
  )
  const context = [...found.values()].sort((a, b) => Number(a.id) - Number(b.id))
  return {
    ...item,
    before: context.filter((one) => Number(one.id) < Number(id)),
    after: context.filter((one) => Number(one.id) > Number(id)),
  }
}

const DAY = 86_400
const MOST_DAYS = 92

/** How many messages each rule blocked on each day. At most three months at a time. */
export async function listReviewItemFigures(
  { app: { no: appNo, cell } }: Actor,
  { from, to }: FigureQuery,
) {
  const end = to ?? Math.ceil(Date.now() / 1_000)
  const start = Math.max(from ?? end - 30 * DAY, end - MOST_DAYS * DAY)
  const range = { after: firstIdOf(start), before: firstIdOf(end) }
  const rows = await listFigures.many(cell.db, { appNo, ...range })
  return rows.map(({ day, rule_id, rule_name, ...counts }) => ({
    day,
    ...(rule_id !== null && { ruleId: rule_id }),
    ...(rule_name !== null && { ruleName: rule_name }),
    ...counts,
  }))
}
