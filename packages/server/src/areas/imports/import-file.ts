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
import type { Load } from './load.ts'
import { checksumOf, sum } from './parity.ts'
import { importConversations, importRecords, type RecordKind, withoutUser } from './queries.ts'

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
const BATCH = 4_000
/** A batch of long lines ends here, so that it needs little memory: 4,000 lines could have 1 GB. */
const BATCH_BYTES = 8 * 1024 * 1024
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
  /** Of the line, if its item is there now. */
  checksum?: bigint
  conversation?: string
}

/** A user who was erased after an import was created, and the uid that takes the user's place. */
export interface ErasedUser {
  uid: string
  as: string
}

/** Imports a part of a batch in a transaction of its own. It can be repeated. */
export type Piece = (tx: Tx, erased?: readonly ErasedUser[]) => Promise<Outcome[]>

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
  #bytes = 0

  /** Counts a line, also one that is refused. */
  add(text = ''): void {
    this.size++
    this.#bytes += text.length
  }

  get full(): boolean {
    return this.size >= BATCH || this.#bytes >= BATCH_BYTES
  }
}

interface WholeFile extends FileImport {
  db: Db
  onProblem(problem: Problem): void
  onOutcomes?(outcomes: Outcome[]): void
  /** Rests between transactions. */
  load?: Load
}

/** Imports a file. It can be repeated: what is there already is skipped. */
export async function importFile(
  { db, onProblem, onOutcomes, load, ...options }: WholeFile,
  lines: AsyncIterable<Line>,
  onProgress: (lines: number) => void = () => {},
): Promise<Counts> {
  const importer = new Importer(options)
  let counts = noCounts()
  const take = (outcomes: Outcome[]) => {
    counts = countsWith(counts, outcomes)
    onOutcomes?.(outcomes)
    for (const problem of problemsOf(outcomes)) onProblem(problem)
  }
  const write = async (batch: Batch) => {
    take(batch.outcomes)
    for (const piece of importer.pieces(batch)) {
      const started = performance.now()
      take(await db.tx((tx) => piece(tx)))
      await load?.rest(performance.now() - started)
    }
  }
  let batch = new Batch()
  // The next batch is read while one is written.
  let writing = Promise.resolve()
  try {
    for await (const line of lines) {
      await importer.read(line, batch)
      if (!batch.full) continue
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

/** Items that were imported, and that were there, with the sums of their lines' checksums. */
export interface Sums {
  kind: string
  conversation: string
  imported: number
  checksum: bigint
  there: number
  thereChecksum: bigint
}

/** What outcomes add to the sums of each kind; of messages also by conversation, as the kind `conversation`. */
export function sumsOf(outcomes: Outcome[], byConversation = false): Sums[] {
  const sums = new Map<string, Sums>()
  const add = (kind: string, conversation: string, { result, checksum = 0n }: Outcome) => {
    const key = `${kind} ${conversation}`
    const none = { imported: 0, checksum: 0n, there: 0, thereChecksum: 0n }
    const one = sums.get(key) ?? { kind, conversation, ...none }
    sums.set(
      key,
      result === 'imported'
        ? { ...one, imported: one.imported + 1, checksum: sum(one.checksum, checksum) }
        : { ...one, there: one.there + 1, thereChecksum: sum(one.thereChecksum, checksum) },
    )
  }
  for (const outcome of outcomes) {
    const { kind, conversation, checksum } = outcome
    if (!kind || checksum === undefined) continue
    add(kind, '', outcome)
    if (byConversation && conversation !== undefined) add('conversation', conversation, outcome)
  }
  return [...sums.values()]
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
    batch.add(text)
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
    // After the item is read, which refuses what is nested so deeply that a checksum of it would overflow the stack.
    const at = () => ({ line, ...(parity && { checksum: checksumOf(given) }) })
    const group = async (details: ImportedGroup | undefined) => {
      if (!details) return
      const { groupOwnerDetails, ...fields } = await withHash(details)
      if (groupOwnerDetails) parents.users.push(groupOwnerDetails)
      parents.groups.push(fields)
    }
    const users = (...details: (ImportedUser | undefined)[]) =>
      parents.users.push(...details.filter((user) => user !== undefined))
    const { records } = batch
    if (isSimple(kind)) records[kind].push({ item: SIMPLE[kind](given, now), ...at() })
    else if (kind === 'group') {
      const { groupOwnerDetails, ...item } = await withHash(readFileGroup(given, now))
      users(groupOwnerDetails)
      records.group.push({ item, ...at() })
    } else if (kind === 'member') {
      const { userDetails, groupDetails, ...item } = readFileMember(given, now)
      users(userDetails)
      await group(groupDetails)
      records.member.push({ item, ...at() })
    } else {
      const message = readFileMessage(given, now)
      const item = messageItem(settings, message)
      users(message.senderUserDetails, message.receiverUserDetails)
      users(message.receiverGroupOwnerDetails)
      await group(message.receiverGroupDetails)
      batch.messages.push({ item, ...at() })
    }
  }

  /** What to do for a batch, in this order. The same lines always give the same pieces. */
  *pieces(batch: Batch): Generator<Piece> {
    if (this.#options.dryRun) return
    const { parents, records } = batch
    const unnamed = <T>(items: T[]) => items.map((item) => ({ line: 0, item }))
    for (const kind of KINDS) {
      if (kind !== 'message') yield* this.#records(kind, records[kind])
      else for (const some of inPieces(byConversation(batch.messages))) yield this.#messages(some)
      // After lines about the same ones, which say more about them.
      if (kind === 'user') yield* this.#records('user', unnamed(parents.users), true)
      if (kind === 'group') yield* this.#records('group', unnamed(parents.groups), true)
    }
  }

  /** Parents have no outcome, and one that fails is missed by its items. */
  *#records(kind: RecordKind, items: Item<object>[], parent = false): Generator<Piece> {
    const { appNo, settings } = this.#options
    for (let from = 0; from < items.length; from += AT_ONCE) {
      const all = items.slice(from, from + AT_ONCE)
      yield async (tx, erased = []) => {
        const isErased = ({ item }: Item<object>) => isAbout(item, erased)
        const some = all.filter((item) => !isErased(item))
        const rows = await importRecords.many(tx, {
          ...{ appNo, kind, parent, limits: limitsOf({ settings }) },
          items: await withoutErased(
            tx,
            some.map(({ item }) => item),
            erased,
          ),
        })
        if (parent) return []
        const outcomes = rows.map(({ nth, code, detail }) => {
          const item = { ...some[nth - 1], kind }
          if (code === null) return outcomeOf(item, 'imported')
          if (THERE.has(code)) return outcomeOf(item, 'there')
          return refusal(item, refusedRecord(code, detail))
        })
        return [...outcomes, ...all.filter(isErased).map(({ line }) => erasedOutcome(line, kind))]
      }
    }
  }

  #messages(all: Item<MessageItem>[][]): Piece {
    const { appNo } = this.#options
    return async (tx, erased = []) => {
      const isErased = ({ item }: Item<MessageItem>) => isOf(item, erased)
      const conversations = all
        .map((items) => items.filter((item) => !isErased(item)))
        .filter((items) => items.length > 0)
      const given = conversations.map((items) => ({
        ...items[0]?.item,
        item: undefined,
        items: items.map(({ item }) => item.item),
      }))
      const rows = await importConversations.many(tx, {
        ...{ appNo, conversations: await withoutErased(tx, given, erased) },
      })
      const outcomes = rows.map(({ conversation: nth, ...row }) => {
        const given = conversations[nth - 1]?.[row.nth - 1]
        const conversation = given && conversationIdOf(given.item)
        const item = { ...given, kind: 'message' as const, conversation }
        if (row.code === null) return outcomeOf(item, 'imported')
        return THERE.has(row.code) ? outcomeOf(item, 'there') : refusal(item, refusedMessage(row))
      })
      const refused = all.flat().filter(isErased)
      return [...outcomes, ...refused.map(({ line }) => erasedOutcome(line, 'message'))]
    }
  }
}

/** Whether a record is about one of these users. The owner of a group doesn't count: see `withoutErased`. */
function isAbout(item: object, erased: readonly ErasedUser[]): boolean {
  const { uid, friendUid, blockedUid, receiverType, receiver } = item as Record<string, unknown>
  const named = [uid, friendUid, blockedUid, receiverType === 'user' && receiver]
  return erased.some((one) => named.includes(one.uid))
}

/** Whether one of these users wrote or received a message. */
const isOf = ({ kind, one, other, item }: MessageItem, erased: readonly ErasedUser[]): boolean =>
  erased.some(({ uid }) => item.sender === uid || (kind === 'user' && [one, other].includes(uid)))

/** Items as JSON, without what they say about users who were erased. The app owns groups that they would own. */
async function withoutErased(
  tx: Tx,
  items: object[],
  erased: readonly ErasedUser[],
): Promise<string> {
  let json = JSON.stringify(items)
  for (const { uid, as } of erased) {
    if (!json.toLowerCase().includes(uid)) continue
    const kept = (JSON.parse(json) as { owner?: unknown }[]).map((item) =>
      item.owner === uid ? { ...item, owner: undefined } : item,
    )
    json = (await withoutUser.one(tx, { items: JSON.stringify(kept), uid, as })).items
  }
  return json
}

const erasedOutcome = (line: number, kind: Kind): Outcome => ({
  ...{ line, kind, result: 'refused', code: 'ERR_UID_NOT_FOUND' },
  message: 'A user of this line was erased after the import was created.',
})

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
