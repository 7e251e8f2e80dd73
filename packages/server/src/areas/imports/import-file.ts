/** Imports the lines of a file in batches, which is much faster than one request for each item. */
import type { ErrorCode } from '@loquat/protocol'
import type { Actor } from '../../core/actor.ts'
import type { Db, Tx } from '../../platform/db/db.ts'
import { ApiError, badRequest, fail } from '../../platform/http/fail.ts'
import { limitsOf, refusedMessage, withHash } from './actions.ts'
import {
  type ImportedGroup,
  type ImportedUser,
  type MessageItem,
  messageItem,
  readFileBlock,
  readFileFriend,
  readFileGroup,
  readFileMember,
  readFileMessage,
  readFileReaction,
  readFileRole,
  readFileSanction,
  readFileSave,
  readFileUser,
  readFileView,
} from './items.ts'
import { type Count, type Counts, KINDS, type Kind } from './kinds.ts'
import type { Line } from './lines.ts'
import { checksumOf } from './parity.ts'
import { importConversations, importRecords, type RecordKind } from './queries.ts'

export interface Problem {
  line: number
  code: string
  message: string
}

export interface FileImport {
  appNo: number
  settings: Actor['settings']
  /** Only checks the lines, and writes nothing. */
  dryRun: boolean
  /** The time that nothing may be after, in Unix seconds. Default: now. */
  now?: number
  /** Whether to compute checksums. */
  parity?: boolean
}

/** Lines per batch. Those of a conversation are imported together, by time. */
export const BATCH = 4_000
/** Items per transaction: it locks conversations, for which live messages wait. */
const AT_ONCE = 250

const THERE = new Set([
  ...['ERR_ROLE_ALREADY_EXISTS', 'THERE'],
  ...['ERR_UID_ALREADY_EXISTS', 'ERR_GUID_ALREADY_EXISTS', 'ERR_ALREADY_JOINED'],
  ...['ERR_ALREADY_BANNED', 'ERR_IMPORT_MUID_ALREADY_EXISTS'],
])

interface Item<T> {
  line: number
  item: T
  checksum?: bigint
}

/** What became of a line. */
export interface Outcome {
  line: number
  kind?: Kind
  /** `read`: it is valid, and its import has an outcome of its own. */
  result: 'read' | 'imported' | 'there' | 'refused'
  /** Of those that were refused. */
  code?: string
  message?: string
  /** Of those that are there now. */
  checksum?: bigint
  conversation?: string
}

/** Imports a part of a batch in a transaction of its own. It can be repeated. */
export type Piece = (tx: Tx) => Promise<Outcome[]>

export class Batch {
  /** What is known without the database. */
  readonly outcomes: Outcome[] = []
  readonly messages: Item<MessageItem>[] = []
  readonly records: Record<RecordKind, Item<object>[]> = {
    ...{ role: [], user: [], group: [], member: [], reaction: [], friend: [], block: [] },
    ...{ sanction: [], save: [], view: [] },
  }
  /** What items bring along, if it isn't there. */
  readonly parents: { users: ImportedUser[]; groups: object[] } = { users: [], groups: [] }
  size = 0
}

/** Imports a file. It can be repeated: what is there already is skipped. */
export async function importFile(
  { db, onProblem, ...options }: FileImport & { db: Db; onProblem(problem: Problem): void },
  lines: AsyncIterable<Line>,
  onProgress: (lines: number) => void = () => {},
): Promise<Counts> {
  const importer = new Importer(options)
  let counts = noCounts()
  const take = (outcomes: Outcome[]) => {
    counts = countsWith(counts, outcomes)
    for (const problem of problemsOf(outcomes)) onProblem(problem)
  }
  const write = async (batch: Batch) => {
    take(batch.outcomes)
    for (const piece of importer.pieces(batch)) take(await db.tx(piece))
  }
  let batch = new Batch()
  // The next batch is read while one is written.
  let writing = Promise.resolve()
  try {
    for await (const line of lines) {
      await importer.read(line, batch)
      if (batch.size < BATCH) continue
      await writing
      writing = write(batch)
      // Its failure is noticed when it is awaited.
      writing.catch(() => {})
      onProgress(line.line)
      batch = new Batch()
    }
  } finally {
    await writing
  }
  await write(batch)
  return counts
}

const newCount = (): Count => ({ read: 0, imported: 0, there: 0, refused: 0 })

export const noCounts = (): Counts =>
  Object.fromEntries(KINDS.map((kind) => [kind, newCount()])) as Counts

/** The counts with those of more outcomes. */
export function countsWith(counts: Counts, outcomes: Outcome[]): Counts {
  const sum = structuredClone(counts)
  for (const { kind, result } of outcomes) if (kind) sum[kind][result]++
  return sum
}

export const problemsOf = (outcomes: Outcome[]): Problem[] =>
  outcomes.flatMap(({ line, result, code = '', message = code }) =>
    result === 'refused' ? [{ line, code, message }] : [],
  )

/** Kinds whose items bring no others along. */
const SIMPLE = {
  ...{ role: readFileRole, user: readFileUser, reaction: readFileReaction },
  ...{ friend: readFileFriend, block: readFileBlock, sanction: readFileSanction },
  ...{ save: readFileSave, view: readFileView },
}
const isSimple = (kind: Kind): kind is keyof typeof SIMPLE => kind in SIMPLE

/** Reads lines into batches, and says how to import them. */
export class Importer {
  readonly #options: FileImport

  constructor(options: FileImport) {
    this.#options = options
  }

  async read({ line, text, problem }: Line, batch: Batch): Promise<void> {
    if (text?.trim() === '') return
    batch.size++
    let kind: Kind | undefined
    try {
      if (text === undefined) throw badRequest({ line: [problem ?? ''] })
      const given = parse(text)
      kind = KINDS.find((name) => name === given.kind)
      if (!kind) throw badRequest({ kind: [`kind must be ${KINDS.join(', ')}`] })
      batch.outcomes.push({ line, kind, result: 'read' })
      await this.#take(line, kind, given, batch)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      batch.outcomes.push(refusal({ line, kind }, error))
    }
  }

  async #take(line: number, kind: Kind, given: object, batch: Batch): Promise<void> {
    const { parents } = batch
    const { now = Math.floor(Date.now() / 1000), settings, parity } = this.#options
    const at = { line, ...(parity && { checksum: checksumOf(given) }) }
    const group = async (details: ImportedGroup | undefined) => {
      if (!details) return
      const { groupOwnerDetails, ...fields } = await withHash(details)
      if (groupOwnerDetails) parents.users.push(groupOwnerDetails)
      parents.groups.push(fields)
    }
    const users = (...details: (ImportedUser | undefined)[]) =>
      parents.users.push(...details.filter((user) => user !== undefined))
    const { records } = batch
    if (isSimple(kind)) records[kind].push({ ...at, item: SIMPLE[kind](given, now) })
    else if (kind === 'group') {
      const { groupOwnerDetails, ...item } = await withHash(readFileGroup(given, now))
      users(groupOwnerDetails)
      records.group.push({ ...at, item })
    } else if (kind === 'member') {
      const { userDetails, groupDetails, ...item } = readFileMember(given, now)
      users(userDetails)
      await group(groupDetails)
      records.member.push({ ...at, item })
    } else {
      const message = readFileMessage(given, now)
      const item = messageItem(settings, message)
      users(message.senderUserDetails, message.receiverUserDetails)
      users(message.receiverGroupOwnerDetails)
      await group(message.receiverGroupDetails)
      batch.messages.push({ ...at, item })
    }
  }

  /** What to do for a batch, in this order. The same lines always give the same pieces. */
  *pieces(batch: Batch): Generator<Piece> {
    if (this.#options.dryRun) return
    const { parents, records } = batch
    const unnamed = <T>(items: T[]) => items.map((item) => ({ line: 0, item }))
    for (const kind of KINDS) {
      if (kind === 'user') yield* this.#records('user', unnamed(parents.users), true)
      if (kind === 'group') yield* this.#records('group', unnamed(parents.groups), true)
      if (kind !== 'message') yield* this.#records(kind, records[kind])
      else for (const some of inPieces(byConversation(batch.messages))) yield this.#messages(some)
    }
  }

  /** Parents have no outcome, and one that fails is missed by its items. */
  *#records(kind: RecordKind, items: Item<object>[], parent = false): Generator<Piece> {
    const { appNo, settings } = this.#options
    for (let from = 0; from < items.length; from += AT_ONCE) {
      const some = items.slice(from, from + AT_ONCE)
      yield async (tx) => {
        const rows = await importRecords.many(tx, {
          ...{ appNo, kind, parent, limits: limitsOf({ settings }) },
          items: JSON.stringify(some.map(({ item }) => item)),
        })
        if (parent) return []
        return rows.map(({ nth, code, detail }) => {
          const item = { ...some[nth - 1], kind }
          if (code === null) return outcomeOf(item, 'imported')
          if (THERE.has(code)) return outcomeOf(item, 'there')
          return refusal(item, refusedRecord(code, detail))
        })
      }
    }
  }

  #messages(conversations: Item<MessageItem>[][]): Piece {
    const { appNo } = this.#options
    return async (tx) => {
      const rows = await importConversations.many(tx, {
        appNo,
        conversations: JSON.stringify(
          conversations.map((items) => ({
            ...items[0]?.item,
            item: undefined,
            items: items.map(({ item }) => item.item),
          })),
        ),
      })
      return rows.map(({ conversation: nth, ...row }) => {
        const given = conversations[nth - 1]?.[row.nth - 1]
        const conversation = given && conversationIdOf(given.item)
        const item = { ...given, kind: 'message' as const, conversation }
        if (row.code === null) return outcomeOf(item, 'imported')
        return THERE.has(row.code) ? outcomeOf(item, 'there') : refusal(item, refusedMessage(row))
      })
    }
  }
}

const conversationIdOf = ({ kind, one, other }: MessageItem) =>
  kind === 'group' ? `group_${one}` : `${one}_user_${other}`

interface Place {
  line?: number
  kind?: Kind | undefined
  checksum?: bigint
  conversation?: string | undefined
}

function outcomeOf(
  { line = 0, kind, checksum, conversation }: Place,
  result: 'imported' | 'there',
): Outcome {
  return {
    ...{ line, result },
    ...(kind && { kind }),
    ...(checksum !== undefined && { checksum }),
    ...(conversation !== undefined && { conversation }),
  }
}

const refusal = ({ line = 0, kind }: Place, error: ApiError): Outcome => ({
  ...{ line, result: 'refused', code: error.code, message: textOf(error) },
  ...(kind && { kind }),
})

function parse(text: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    value = undefined
  }
  if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  throw notJson
}

/** What `refuse` in the database said. */
const refusedRecord = (code: string, detail: string | null) =>
  fail(code as ErrorCode, JSON.parse(detail ?? '{}'))

const notJson = badRequest({ line: ['the line is not a JSON object'] })

const textOf = ({ details, message }: ApiError): string =>
  Object.values(details ?? {})
    .flat()
    .join('; ') || message

/** Conversations in the order in which they are locked, each by time and then by line. */
function byConversation(messages: Item<MessageItem>[]): Item<MessageItem>[][] {
  const keyOf = ({ item: { kind, one, other } }: Item<MessageItem>) => `${kind} ${one} ${other}`
  const secondOf = ({ item }: Item<MessageItem>) => Number(item.item.second)
  return [...Map.groupBy(messages, keyOf)]
    .sort(([one], [two]) => (one < two ? -1 : 1))
    .map(([, items]) =>
      items.sort((one, two) => secondOf(one) - secondOf(two) || one.line - two.line),
    )
}

/** Conversations for one transaction each; a long one is cut. */
function* inPieces(conversations: Item<MessageItem>[][]): Generator<Item<MessageItem>[][]> {
  let piece: Item<MessageItem>[][] = []
  let size = 0
  for (const items of conversations) {
    for (let from = 0; from < items.length; from += AT_ONCE) {
      const some = items.slice(from, from + AT_ONCE)
      if (size + some.length > AT_ONCE && piece.length > 0) {
        yield piece
        piece = []
        size = 0
      }
      piece.push(some)
      size += some.length
    }
  }
  if (piece.length > 0) yield piece
}
