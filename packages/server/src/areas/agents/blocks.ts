/** What API tools, frontend actions, MCP servers, tools and variables have in common. */
import type { Actor, ServedApp } from '../../core/actor.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import type { Executor } from '../../platform/db/query.ts'
import { badRequest, fail } from '../../platform/http/fail.ts'
import {
  type BlockKind,
  type BlockRow,
  countBlocks,
  findBlock,
  insertBlock,
  removeBlock,
  updateBlock,
} from './blocks.queries.ts'
import { originOf } from './endpoint.ts'
import { readHeaders } from './headers.ts'
import { detachBlock, lockAgents } from './queries.ts'
import { revise } from './revisions.queries.ts'

declare module '../../platform/secrets/secrets.ts' {
  interface Places {
    'agent_blocks.secret': [appNo: number, kind: string, slug: string]
  }
}

export const BLOCKS_PER_KIND = 200

/** Values that are sealed, and never returned. */
export interface BlockSecrets {
  basicAuthPassword?: string
  headers?: string
}

/** What was stored, without its secrets. */
export type BlockFields = Record<string, unknown>

export interface BlockSpec {
  kind: BlockKind
  /** As in "the app has too many API tools". */
  what: string
  /** The fields of agents that name it. */
  usedBy: string[]
  /** The field with the URL that its secrets are sent to. */
  urlField?: string
  /** Throws if fields contradict each other. */
  check?(fields: BlockFields, secrets: BlockSecrets): void
}

/** A stored part, with the names of its secrets. */
export interface Block {
  slug: string
  fields: BlockFields
  secrets: BlockSecrets
  common: { _id: string; appId: string }
  createdAt: Date
  updatedAt: Date
}

type OwnApp = Pick<ServedApp, 'id' | 'no'>

export const openSecrets = (
  { secrets }: Pick<Deps, 'secrets'>,
  appNo: number,
  kind: BlockKind,
  { slug, secret_sealed: sealed }: Pick<BlockRow, 'slug' | 'secret_sealed'>,
): BlockSecrets =>
  sealed ? JSON.parse(secrets.open(['agent_blocks.secret', appNo, kind, slug], sealed)) : {}

export function toBlock(
  deps: Pick<Deps, 'secrets'>,
  app: OwnApp,
  { kind }: Pick<BlockSpec, 'kind'>,
  row: BlockRow,
): Block {
  const { slug, definition } = row
  return {
    slug,
    fields: definition as BlockFields,
    secrets: openSecrets(deps, app.no, kind, row),
    common: { _id: `${app.id}_${slug}`, appId: app.id },
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

/** Finds one by its name or its `_id`. */
async function getRow(db: Executor, app: OwnApp, { kind }: BlockSpec, id: string) {
  const slug = id.startsWith(`${app.id}_`) ? id.slice(app.id.length + 1) : id
  const row = await findBlock.maybeOne(db, { appNo: app.no, kind, slug })
  if (!row) throw fail('ERR_TOOL_NOT_FOUND', { id })
  return row
}

export const getBlock = async (
  deps: Pick<Deps, 'secrets'>,
  app: ServedApp,
  spec: BlockSpec,
  id: string,
): Promise<Block> => toBlock(deps, app, spec, await getRow(app.cell.db, app, spec, id))

/** How the answer shows it. Answers are stored for retries, so a block itself, which has secrets, is none. */
interface Shown<T> {
  show: (block: Block) => T
}

export async function createBlock<T>(
  deps: Deps,
  actor: Actor,
  spec: BlockSpec,
  { slug, given, show }: { slug: string; given: BlockFields & BlockSecrets } & Shown<T>,
): Promise<T> {
  const { app } = actor
  const { kind, what } = spec
  const { fields, secrets } = await check(deps, spec, given)
  spec.check?.(fields, secrets)
  // Otherwise a path could mean two of them.
  if (slug.startsWith(`${app.id}_`))
    throw badRequest({ slug: ["must not begin with the app's id"] })
  return write(deps, actor, async (tx) => {
    await lockAgents.run(tx, { appNo: app.no })
    const { count } = await countBlocks.one(tx, { appNo: app.no, kind })
    if (count >= BLOCKS_PER_KIND) {
      throw fail('ERR_PLAN_QUOTA_RESTRICTION', { limit: BLOCKS_PER_KIND, what })
    }
    const stored = storedAs(deps, app.no, spec, slug, { fields, secrets })
    const row = await insertBlock.maybeOne(tx, { appNo: app.no, kind, slug, ...stored })
    if (!row) throw badRequest({ slug: [`there is already a "${slug}"`] })
    return show(toBlock(deps, app, spec, row))
  })
}

/** Fields that aren't given stay, unless it is replaced. */
export async function changeBlock<T>(
  deps: Deps,
  actor: Actor,
  spec: BlockSpec,
  { id, given, show, replaces }: { id: string; given: BlockFields; replaces?: boolean } & Shown<T>,
): Promise<T> {
  const { app } = actor
  const { kind, urlField } = spec
  const changes = await check(deps, spec, given)
  return write(deps, actor, async (tx) => {
    await lockAgents.run(tx, { appNo: app.no })
    const before = toBlock(deps, app, spec, await getRow(tx, app, spec, id))
    const fields = replaces ? changes.fields : { ...before.fields, ...changes.fields }
    // Whoever changes the URL would otherwise learn the secrets.
    const moved = urlField !== undefined && fields[urlField] !== before.fields[urlField]
    const secrets = { ...(moved ? {} : before.secrets), ...changes.secrets }
    spec.check?.(fields, secrets)
    const { slug } = before
    const stored = storedAs(deps, app.no, spec, slug, { fields, secrets })
    const row = await updateBlock.one(tx, { appNo: app.no, kind, slug, ...stored, moved })
    return show(toBlock(deps, app, spec, row))
  })
}

/** Agents that use it go on without it, which is a revision of theirs. */
export function dropBlock(deps: Deps, actor: Actor, spec: BlockSpec, id: string) {
  const { app } = actor
  const { kind, usedBy } = spec
  return write(deps, actor, async (tx) => {
    await lockAgents.run(tx, { appNo: app.no })
    const { slug } = await getRow(tx, app, spec, id)
    await removeBlock.run(tx, { appNo: app.no, kind, slug })
    for (const field of usedBy) {
      const agents = await detachBlock.many(tx, { appNo: app.no, field, slug })
      for (const { uid, deleted } of agents) if (!deleted) await revise(tx, actor, uid)
    }
    return { success: true as const, message: `${slug} deleted.` }
  })
}

/** Tells secrets from other fields, and refuses URLs that must not be called. */
async function check({ targets }: Deps, { urlField }: BlockSpec, given: BlockFields) {
  const { basicAuthPassword, headers, ...fields } = given as BlockFields & BlockSecrets
  if (headers !== undefined) readHeaders(headers)
  const url = urlField === undefined ? undefined : fields[urlField]
  const fault = typeof url === 'string' ? await targets.faultOf(url) : undefined
  if (fault && urlField) throw badRequest({ [urlField]: [`${urlField} ${fault}`] })
  if (typeof url === 'string' && urlField && originOf(url) === undefined)
    throw badRequest({ [urlField]: [`${urlField} must not have a variable in its host`] })
  const secrets: BlockSecrets = {
    ...(basicAuthPassword !== undefined && { basicAuthPassword }),
    ...(headers !== undefined && { headers }),
  }
  return { fields, secrets }
}

const storedAs = (
  deps: Deps,
  appNo: number,
  { kind }: BlockSpec,
  slug: string,
  { fields, secrets }: Pick<Block, 'fields' | 'secrets'>,
) => ({
  definition: JSON.stringify(fields),
  secretSealed:
    Object.keys(secrets).length > 0
      ? deps.secrets.seal(['agent_blocks.secret', appNo, kind, slug], JSON.stringify(secrets))
      : null,
})
