import { UserError } from '../platform/errors.ts'
import { addDirect, scatteredPairs } from './direct.ts'
import { addToGroups, readGroupHeads } from './group-messages.ts'
import type { Batch, Kind, Run } from './kind.ts'
import { pairsAmong, skewedSizes } from './order.ts'
import { readUids } from './people.ts'

const BATCH_MESSAGES = 20_000
/** Unless it is said: messages to a conversation, on average. */
const LENGTH = 10
/** What groups get of the messages, where there are groups. */
const GROUP_SHARE = 1 / 4

/** Messages in new conversations of two, and in the groups that are there. */
export const messages: Kind = {
  name: 'messages',
  tables: ['conversations', 'messages', 'inbox', 'marks', 'view_totals'],
  async plan(client, run, { wanted, conversations = Math.ceil(wanted / LENGTH) }) {
    const uids = await readUids(client, run.appNo)
    const heads = await readGroupHeads(client, run.appNo)
    const toGroups = shareOfGroups(wanted, conversations, heads.length)
    checkConversations(conversations, wanted - toGroups, uids.length)
    return batches(run, { toGroups, heads, toDirect: wanted - toGroups, conversations, uids })
  },
}

function shareOfGroups(wanted: number, conversations: number, groups: number): number {
  if (conversations > 0) return groups > 0 ? Math.floor(wanted * GROUP_SHARE) : 0
  if (groups > 0) return wanted
  throw new UserError('The app has no groups to write to. Fill them first: --groups N.')
}

function checkConversations(conversations: number, messages: number, users: number): void {
  if (conversations > messages) {
    throw new UserError(
      `${conversations} conversations of two need as many messages; of these they get ${messages}.`,
    )
  }
  if (conversations > pairsAmong(users)) {
    throw new UserError(`${users} users have at most ${pairsAmong(users)} conversations of two.`)
  }
}

interface Layout {
  toGroups: number
  heads: number[]
  toDirect: number
  conversations: number
  uids: string[]
}

function* batches(run: Run, layout: Layout): Generator<Batch> {
  const { toGroups, toDirect, conversations, uids } = layout
  const heads = layout.heads.slice(0, toGroups)
  const nos = heads.values()
  for (const sizes of bunches(skewedSizes(toGroups, heads.length))) {
    const shares = sizes.map((size) => ({ size, no: nos.next().value ?? 0 }))
    yield { add: (tx) => addToGroups(tx, run, shares) }
  }
  const pairs = scatteredPairs(uids)
  for (const sizes of bunches(skewedSizes(toDirect, conversations))) {
    yield { add: (tx) => addDirect(tx, run, pairs, sizes) }
  }
}

/** Sizes of the conversations that go together, each whole. */
function* bunches(sizes: Iterable<number>): Generator<number[]> {
  let bunch: number[] = []
  let messages = 0
  for (const size of sizes) {
    bunch.push(size)
    messages += size
    if (messages < BATCH_MESSAGES) continue
    yield bunch
    bunch = []
    messages = 0
  }
  if (bunch.length > 0) yield bunch
}
