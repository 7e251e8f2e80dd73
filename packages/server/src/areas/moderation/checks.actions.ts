import { randomBytes } from 'node:crypto'
import type { Actor } from '../../core/actor.ts'
import { isSlow } from '../../core/moderation/slow.ts'
import { seconds } from '../../core/time.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import type { Tx } from '../../platform/db/db.ts'
import { announce } from '../../platform/events/announce.ts'
import { isEmpty } from '../../platform/http/changes.ts'
import { badRequest } from '../../platform/http/fail.ts'
import { isOtherHost } from '../../platform/net/targets.ts'
import { getProviderRow } from '../models/actions.ts'
import {
  type CheckSettingsRow,
  type Models,
  putCheckSettings,
  readCheckSettings,
  USES,
} from './checks.queries.ts'
import { askServices, faultOf } from './checks.run.ts'
import type {
  CheckSecret,
  CheckSettings,
  CheckSettingsChanges,
  CheckTest,
  CheckTestResult,
} from './checks.schema.ts'
import { readConditions } from './rules.actions.ts'
import { lockModeration } from './rules.queries.ts'

declare module '../../platform/secrets/secrets.ts' {
  interface Places {
    'check_settings.password': [appNo: number]
    'check_settings.secret': [appNo: number]
  }
}

/** How long the previous secret signs too. */
const DAY_MS = 86_400_000

/** The record in answers. */
export const toCheckSettings = (row: CheckSettingsRow): CheckSettings => ({
  ...(row.url !== null && { url: row.url }),
  basicAuthEnabled: row.use_basic_auth,
  ...(row.username !== null && { username: row.username }),
  signed: row.secret_sealed !== null,
  timeoutMs: row.timeout_ms,
  contextMessages: row.context_messages,
  onFailure: row.on_failure as CheckSettings['onFailure'],
  deadlineSeconds: row.deadline_seconds,
  ...row.models,
})

export async function updateCheckSettings(
  deps: Deps,
  actor: Actor,
  changes: CheckSettingsChanges,
): Promise<CheckSettings> {
  const appNo = actor.app.no
  const { url, password } = changes
  const fault = typeof url === 'string' ? await deps.targets.faultOf(url) : undefined
  if (fault) throw badRequest({ url: [`url ${fault}`] })
  return write(deps, actor, async (tx) => {
    await lockModeration.run(tx, { appNo })
    const before = await readCheckSettings(tx, appNo)
    if (isEmpty(changes)) return toCheckSettings(before)
    const sealed = password && deps.secrets.seal(['check_settings.password', appNo], password)
    // Whoever changes the URL would otherwise learn the password.
    const kept = url && isOtherHost(before.url, url) ? null : before.password_sealed
    const after: CheckSettingsRow = {
      ...before,
      url: url === undefined ? before.url : url,
      use_basic_auth: changes.basicAuthEnabled ?? before.use_basic_auth,
      username: changes.username === undefined ? before.username : changes.username,
      password_sealed: password === undefined ? kept : sealed || null,
      timeout_ms: changes.timeoutMs ?? before.timeout_ms,
      context_messages: changes.contextMessages ?? before.context_messages,
      on_failure: changes.onFailure ?? before.on_failure,
      deadline_seconds: changes.deadlineSeconds ?? before.deadline_seconds,
      models: await modelsOf(tx, appNo, before.models, changes),
    }
    checkCredentials(after)
    return store(tx, appNo, after)
  })
}

async function modelsOf(
  tx: Tx,
  appNo: number,
  before: Models,
  changes: CheckSettingsChanges,
): Promise<Models> {
  const after = { ...before }
  for (const use of USES) {
    const chosen = changes[use]
    if (chosen === null) delete after[use]
    else if (chosen) {
      const { kind } = await getProviderRow(tx, appNo, chosen.providerId)
      if (kind !== 'openai') throw badRequest({ [use]: ['needs a provider of the kind openai'] })
      after[use] = chosen
    }
  }
  return after
}

function checkCredentials({ use_basic_auth, username, password_sealed }: CheckSettingsRow): void {
  if (!use_basic_auth) return
  const missing = [
    ...(username === null ? ['username'] : []),
    ...(password_sealed === null ? ['password'] : []),
  ]
  if (missing.length === 0) return
  const text = (field: string) => `${field} is required with basicAuthEnabled`
  throw badRequest(Object.fromEntries(missing.map((field) => [field, [text(field)]])))
}

/** Both secrets sign for a day: time to give your check the new one. */
export function rotateCheckSecret(deps: Deps, actor: Actor): Promise<CheckSecret> {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    await lockModeration.run(tx, { appNo })
    const before = await readCheckSettings(tx, appNo)
    const secret = `whsec_${randomBytes(32).toString('base64')}`
    const until = before.secret_sealed && new Date(Date.now() + DAY_MS)
    await store(tx, appNo, {
      ...before,
      secret_sealed: deps.secrets.seal(['check_settings.secret', appNo], secret),
      old_secret_sealed: before.secret_sealed,
      old_secret_until: until,
    })
    return { secret, ...(until && { oldSecretUntil: seconds(until) }) }
  })
}

async function store(tx: Tx, appNo: number, row: CheckSettingsRow): Promise<CheckSettings> {
  const stored = await putCheckSettings.one(tx, {
    ...{ appNo, url: row.url, useBasicAuth: row.use_basic_auth, username: row.username },
    ...{ passwordSealed: row.password_sealed, secretSealed: row.secret_sealed },
    ...{ oldSecretSealed: row.old_secret_sealed, oldSecretUntil: row.old_secret_until },
    ...{ timeoutMs: row.timeout_ms, contextMessages: row.context_messages },
    ...{ onFailure: row.on_failure, deadlineSeconds: row.deadline_seconds },
    models: JSON.stringify(row.models),
  })
  const record = toCheckSettings(stored)
  await announce(tx, {
    ...{ appNo, type: 'moderation.checks.updated', key: 'moderation:checks' },
    payload: { settings: record },
  })
  return record
}

/** Asks about a text or an attachment that nobody sends. It changes nothing. */
export async function testCheck(
  deps: Deps,
  { app, uid = 'tester' }: Actor,
  { condition, text, attachmentUrl }: CheckTest,
): Promise<CheckTestResult> {
  const [read] = readConditions([condition])
  if (!read || !isSlow(read)) {
    throw badRequest({
      condition: ['this condition needs no check: POST /moderation/rules/test tests it'],
    })
  }
  const media = read.operand === 'image' || read.operand === 'video' ? read.operand : undefined
  if (media ? attachmentUrl === undefined : text === undefined) {
    const name = media ? 'attachmentUrl' : 'text'
    throw badRequest({ [name]: [`${name} is required for this condition`] })
  }
  const type = media ?? 'text'
  const data = { ...(text && { text }), ...(media && { attachments: [{ url: attachmentUrl }] }) }
  const settings = await readCheckSettings(app.cell.db, app.no)
  const subject = {
    ...{ appNo: app.no, appId: app.id, conversation: undefined },
    message: { id: '0', sender: uid, category: 'message', type, data },
  }
  const rule = { id: '', name: '', revisionId: '', actions: [] }
  const found = await askServices(
    { deps, db: app.cell.db, settings, signal: AbortSignal.timeout(settings.timeout_ms + 1_000) },
    subject,
    [{ rule, place: 1, condition: read }],
  )
  const [failure] = found.failures
  return {
    hit: found.hit !== undefined,
    ...(found.hit && { found: found.hit.text }),
    ...(failure && { failure: faultOf(failure) }),
  }
}
