import { UserError } from '../platform/errors.ts'
import { addDirect, scatteredPairs } from './direct.ts'
import { addToGroups, readGroupHeads } from './group-messages.ts'
import type { Batch, Kind, Run } from './kind.ts'
import { pairsAmong, skewedSizes } from './order.ts'
import { readUids } from './people.ts'

const BATCH_MESSAGES = 20_000
/** The default average number of messages per conversation. */
const LENGTH = 10
/** The share of the messages that goes to groups, if there are any. */
const GROUP_SHARE = 1 / 4

/** Messages in new 1:1 conversations and in existing groups. */
export const messages: Kind = {
  name: 'messages',
  tables: ['conversations', 'messages', 'inbox', 'direct_views', 'marks', 'view_totals'],
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
  throw new UserError('The app has no groups. Add some first: --groups N.')
}

function checkConversations(conversations: number, messages: number, users: number): void {
  if (conversations > messages) {
    throw new UserError(
      `${conversations} conversations need at least as many messages, but only ${messages} go to 1:1 conversations.`,
    )
  }
  if (conversations > pairsAmong(users)) {
    throw new UserError(`${users} users can have at most ${pairsAmong(users)} 1:1 conversations.`)
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
  for (const sizes of batchSizes(skewedSizes(toGroups, heads.length))) {
    const shares = sizes.map((size) => ({ size, no: nos.next().value ?? 0 }))
    yield { add: (tx) => addToGroups(tx, run, shares) }
  }
  const pairs = scatteredPairs(uids)
  for (const sizes of batchSizes(skewedSizes(toDirect, conversations))) {
    yield { add: (tx) => addDirect(tx, run, pairs, sizes) }
  }
}

/** Groups the sizes of conversations into batches, each conversation whole. */
function* batchSizes(sizes: Iterable<number>): Generator<number[]> {
  let batch: number[] = []
  let messages = 0
  for (const size of sizes) {
    batch.push(size)
    messages += size
    if (messages < BATCH_MESSAGES) continue
    yield batch
    batch = []
    messages = 0
  }
  if (batch.length > 0) yield batch
}
