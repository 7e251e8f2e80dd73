import { randomBytes } from 'node:crypto'
import { type EventType, triggers as known } from '@loquat/protocol'
import type { Actor } from '../../core/actor.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import type { Tx } from '../../platform/db/db.ts'
import { announce } from '../../platform/events/announce.ts'
import { readUnset } from '../../platform/http/changes.ts'
import { badRequest, fail } from '../../platform/http/fail.ts'
import { enqueue } from '../../platform/jobs/queue.ts'
import { isOtherHost } from '../../platform/net/targets.ts'
import type { Place } from '../../platform/secrets/secrets.ts'
import {
  countWebhooks,
  insertWebhook,
  lockWebhook,
  lockWebhooks,
  removeWebhook,
  restartParked,
  restartProgress,
  updateSecret,
  updateTriggers,
  updateWebhookRow,
  type WebhookRow,
} from './queries.ts'
import { toWebhook } from './record.ts'
import type {
  CreatedWebhook,
  NewSecret,
  NewWebhook,
  TriggerIds,
  Webhook,
  WebhookChanges,
} from './schema.ts'
import { sweepWebhookJob } from './sweep.job.ts'

declare module '../../platform/secrets/secrets.ts' {
  interface Places {
    'webhooks.password': [appNo: number, id: string]
    'webhooks.secret': [appNo: number, id: string]
  }
}

const WEBHOOKS_PER_APP = 25

/** The event types of these triggers. */
const typesOf = (triggers: string[]) => triggers.flatMap((name) => known.get(name)?.type ?? [])

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`

export async function createWebhook(
  deps: Deps,
  actor: Actor,
  { id, name, webhookURL: url, ...given }: NewWebhook,
): Promise<CreatedWebhook> {
  const appNo = actor.app.no
  await checkTarget(deps, url)
  return write(deps, actor, async (tx) => {
    await lockWebhooks.run(tx, { appNo })
    const { count } = await countWebhooks.one(tx, { appNo })
    if (count >= WEBHOOKS_PER_APP) {
      throw fail('ERR_PLAN_QUOTA_RESTRICTION', {
        limit: WEBHOOKS_PER_APP,
        what: 'webhooks per app',
      })
    }
    const secret = newSecret()
    const { useBasicAuth = false, username = null, password = null } = given
    checkCredentials(useBasicAuth, username !== null, password !== null)
    const row = await insertWebhook.maybeOne(tx, {
      appNo,
      id,
      name,
      url,
      useBasicAuth,
      username,
      passwordSealed: sealed(deps, ['webhooks.password', appNo, id], password),
      enabled: given.enabled ?? true,
      retryOnFailure: given.retryOnFailure ?? true,
      secretSealed: deps.secrets.seal(['webhooks.secret', appNo, id], secret),
    })
    if (!row) throw fail('ERR_WEBHOOK_ALREADY_EXISTS', { id })
    await announceWebhook(tx, appNo, 'webhook.created', row)
    return { ...toWebhook(row), secret }
  })
}

export async function updateWebhook(
  deps: Deps,
  actor: Actor,
  id: string,
  changes: WebhookChanges,
): Promise<Webhook> {
  const { webhookURL: url = null, username = null, password = null, ...given } = changes
  const cleared = readUnset(changes)
  if (url !== null) await checkTarget(deps, url)
  return change(deps, actor, id, async (tx, before) => {
    const { useBasicAuth = null, enabled = null } = given
    // Whoever changes the URL would otherwise learn the password.
    const moves = url !== null && password === null && isOtherHost(before.url, url)
    const unset = moves ? [...cleared, 'password'] : cleared
    checkCredentials(
      useBasicAuth ?? before.use_basic_auth,
      !unset.includes('username') && (username ?? before.username) !== null,
      !unset.includes('password') && (before.has_password || password !== null),
    )
    const row = await updateWebhookRow.one(tx, {
      appNo: actor.app.no,
      no: before.no,
      name: given.name ?? null,
      url,
      useBasicAuth,
      username,
      passwordSealed: sealed(deps, ['webhooks.password', actor.app.no, before.id], password),
      enabled,
      retryOnFailure: given.retryOnFailure ?? null,
      unset,
    })
    // Earlier failures say nothing about the new address.
    const moved =
      row.url !== before.url ||
      row.use_basic_auth !== before.use_basic_auth ||
      row.username !== before.username ||
      password !== null
    if (moved || (enabled && !before.enabled)) {
      await restartProgress.run(tx, { appNo: actor.app.no, no: before.no })
      await restartParked.run(tx, { appNo: actor.app.no, no: before.no })
    }
    return { row, answer: toWebhook(row) }
  })
}

export function deleteWebhook(deps: Deps, actor: Actor, id: string) {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    const row = await removeWebhook.maybeOne(tx, { appNo, id })
    if (!row) throw fail('ERR_WEBHOOK_NOT_FOUND', { id })
    await enqueue(tx, appNo, sweepWebhookJob, { no: row.no })
    await announceWebhook(tx, appNo, 'webhook.deleted', row)
    return { success: true as const, message: 'Webhook deleted.' }
  })
}

/** Subscribes to the known triggers; returns the result for each. */
export function addWebhookTriggers(
  deps: Deps,
  actor: Actor,
  id: string,
  { triggerIds }: TriggerIds,
) {
  return change(deps, actor, id, async (tx, { no, triggers: before }) => {
    const wanted = triggerIds.filter((trigger) => known.has(trigger))
    const triggers = [...new Set([...before, ...wanted])].sort()
    const row = await updateTriggers.one(tx, {
      appNo: actor.app.no,
      no,
      triggers,
      types: typesOf(triggers),
    })
    return { row, answer: Object.fromEntries(triggerIds.map((name) => [name, outcomeOf(name)])) }
  })
}

function outcomeOf(trigger: string) {
  if (known.has(trigger)) return { success: true, message: 'added' }
  const { code, message } = fail('ERR_TRIGGER_NOT_FOUND', { trigger })
  return { success: false, error: { code, message } }
}

export function deleteWebhookTriggers(
  deps: Deps,
  actor: Actor,
  id: string,
  { triggerIds }: TriggerIds,
) {
  return change(deps, actor, id, async (tx, { no, triggers: before }) => {
    const unknown = triggerIds.find((trigger) => !known.has(trigger))
    if (unknown !== undefined) throw fail('ERR_TRIGGER_NOT_FOUND', { trigger: unknown })
    const triggers = before.filter((trigger) => !triggerIds.includes(trigger))
    const row = await updateTriggers.one(tx, {
      appNo: actor.app.no,
      no,
      triggers,
      types: typesOf(triggers),
    })
    return { row, answer: { success: true as const, message: 'removed' } }
  })
}

/** Both secrets sign for a day: time to give the receiver the new one. */
export function rotateWebhookSecret(deps: Deps, actor: Actor, id: string): Promise<NewSecret> {
  return change(deps, actor, id, async (tx, { no, id: hookId }) => {
    const secret = newSecret()
    const secretSealed = deps.secrets.seal(['webhooks.secret', actor.app.no, hookId], secret)
    const row = await updateSecret.one(tx, { appNo: actor.app.no, no, secretSealed })
    const oldSecretUntil = Math.floor(row.old_secret_until.getTime() / 1000)
    return { row, answer: { secret, oldSecretUntil } }
  })
}

type Before = WebhookRow & { has_password: boolean }

/** Changes a locked webhook and announces it. */
function change<T>(
  deps: Deps,
  actor: Actor,
  id: string,
  work: (tx: Tx, before: Before) => Promise<{ row: WebhookRow; answer: T }>,
): Promise<T> {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    const before = await lockWebhook.maybeOne(tx, { appNo, id })
    if (!before) throw fail('ERR_WEBHOOK_NOT_FOUND', { id })
    const { row, answer } = await work(tx, before)
    await announceWebhook(tx, appNo, 'webhook.updated', row)
    return answer
  })
}

async function checkTarget({ targets }: Deps, url: string): Promise<void> {
  const fault = await targets.faultOf(url)
  if (fault) throw badRequest({ webhookURL: [`webhookURL ${fault}`] })
}

function checkCredentials(used: boolean, username: boolean, password: boolean): void {
  if (!used) return
  const missing = [...(username ? [] : ['username']), ...(password ? [] : ['password'])]
  if (missing.length === 0) return
  throw badRequest(
    Object.fromEntries(missing.map((field) => [field, [`${field} is required with useBasicAuth`]])),
  )
}

const sealed = ({ secrets }: Deps, place: Place, text: string | null) =>
  text === null ? null : secrets.seal(place, text)

type WebhookEvent = Extract<EventType, `webhook.${string}`>

export const announceWebhook = (tx: Tx, appNo: number, type: WebhookEvent, row: WebhookRow) =>
  announce(tx, { appNo, type, key: `webhook:${row.no}`, payload: { webhook: toWebhook(row) } })
