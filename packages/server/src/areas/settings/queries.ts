import type { Ceilings, Settings } from '../../core/settings.ts'
import { query } from '../../platform/db/query.ts'

export type SettingsRow = { settings: Settings; ceilings: Ceilings }

export const lockSettings = query<{ appNo: number }, SettingsRow>(
  'settings.lock',
  'select settings, ceilings from apps where app_no = :appNo for no key update',
)

export const getSettings = query<{ appNo: number }, SettingsRow>(
  'settings.get',
  'select settings, ceilings from apps where app_no = :appNo',
)

export const updateSettings = query<{ appNo: number } & SettingsRow>(
  'settings.update',
  `update apps set settings = :settings::jsonb, ceilings = :ceilings::jsonb
   where app_no = :appNo`,
)
