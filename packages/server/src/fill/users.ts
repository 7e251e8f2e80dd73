import { addToTotal } from '../platform/db/totals.ts'
import { type CopyRow, copyInto } from './copy.ts'
import type { Batch, Kind, Run } from './kind.ts'
import { type Draw, drawFrom, drawName, pick, RARE } from './names.ts'

const BATCH = 10_000
const RARE_USERS = 50
const YEAR_MS = 365 * 86_400_000
const COLUMNS = ['app_no', 'uid', 'name', 'avatar', 'role', 'status_message', 'tags', 'created_at']
const TAGS = ['premium', 'beta', 'staff', 'vip', 'newsletter', 'trial', 'partner', 'press']
const MOODS = ['At work', 'On holiday', 'Busy until noon', 'Здесь', '休憩中', '🎧']

export const users: Kind = {
  name: 'users',
  tables: ['users'],
  async plan(_client, run, { wanted }) {
    return batches(run, wanted)
  },
}

function* batches(run: Run, wanted: number): Generator<Batch> {
  for (let first = 0; first < wanted; first += BATCH) {
    const count = Math.min(BATCH, wanted - first)
    yield {
      async add(tx) {
        await copyInto(tx, 'users', COLUMNS, rowsOf(run, { wanted, first, count }))
        await addToTotal(tx, run.appNo, 'users.active', count)
        return count
      },
    }
  }
}

interface Chunk {
  wanted: number
  first: number
  count: number
}

function* rowsOf(run: Run, { wanted, first, count }: Chunk): Generator<CopyRow> {
  const digits = String(wanted).length
  const rareEvery = Math.ceil(wanted / RARE_USERS)
  for (let nth = first; nth < first + count; nth++) {
    const draw = drawFrom(nth)
    const name = drawName(draw)
    // Padded, so that ids ascend and are appended to the end of their indexes.
    const uid = `fill-${run.mark}-${String(nth).padStart(digits, '0')}`
    yield [
      run.appNo,
      uid,
      nth % rareEvery === 0 ? `${name} ${RARE}` : name,
      draw(2) === 0 ? `https://img.example/${uid}.png` : null,
      'default',
      draw(20) === 0 ? pick(draw, MOODS) : null,
      drawTags(draw),
      new Date(run.startedAt.getTime() - YEAR_MS * (1 - nth / wanted)).toISOString(),
    ]
  }
}

/** One user in five has a tag, some have two. */
function drawTags(draw: Draw): string {
  if (draw(5) > 0) return '{}'
  const tags = new Set([pick(draw, TAGS), ...(draw(4) === 0 ? [pick(draw, TAGS)] : [])])
  return `{${[...tags].join(',')}}`
}
