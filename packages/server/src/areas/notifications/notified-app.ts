import { compileRules } from '../../core/access/rules.ts'
import type { NotifiedApp, PushProvider } from '../../core/notifications/facts.ts'
import { findLogging } from '../../core/notifications/log.ts'
import { findServedSettings } from '../../gate/queries.ts'
import { type Executor, query } from '../../platform/db/query.ts'
import { getSettings } from './settings.actions.ts'
import type { NotificationSettings } from './settings.schema.ts'

const listPushProviders = query<{ appNo: number }, PushProvider & Record<string, unknown>>(
  'notifications.listPushProviders',
  `select kind, provider_id as id, is_default as "isDefault" from notification_providers
   where app_no = :appNo and channel = 'push' and enabled order by kind, provider_id`,
)

/** An app with all its settings of notifications. */
export interface ServedNotifiedApp extends NotifiedApp {
  settings: NotificationSettings
  /** Whether what is decided is logged. */
  isLogging: boolean
}

/** What notifications know about an app. Undefined for one that is scheduled for deletion. */
export async function readNotifiedApp(
  db: Executor,
  appNo: number,
): Promise<ServedNotifiedApp | undefined> {
  const [row, settings, providers, logging] = await Promise.all([
    findServedSettings.maybeOne(db, { appNo }),
    getSettings(db, appNo),
    listPushProviders.many(db, { appNo }),
    findLogging.maybeOne(db, { appNo }),
  ])
  if (!row) return undefined
  const { sanctioned } = row
  const rules = compileRules(row.rules ?? [])
  return { no: appNo, settings, providers, rules, sanctioned, isLogging: logging !== undefined }
}
