import { query } from '../../platform/db/query.ts'
import type { SettingsChanges } from './settings.schema.ts'

/** No row if the app changed nothing. */
export const findSettings = query<{ appNo: number }, { settings: SettingsChanges }>(
  'notifications.findSettings',
  'select settings from notification_settings where app_no = :appNo',
)

/** Serialises changes, also while there is no row yet. */
export const lockNotifications = query<{ appNo: number }>(
  'notifications.lock',
  'select from apps where app_no = :appNo for no key update',
)

export const storeSettings = query<{ appNo: number; settings: SettingsChanges }>(
  'notifications.storeSettings',
  `insert into notification_settings (app_no, settings) values (:appNo, :settings::jsonb)
   on conflict (app_no) do update set settings = excluded.settings`,
)

/** An app whose settings are the defaults has no row. */
export const removeSettings = query<{ appNo: number }>(
  'notifications.removeSettings',
  'delete from notification_settings where app_no = :appNo',
)
