import type { Settings } from '../../core/settings.ts'
import { query } from '../../platform/db/query.ts'

export const lockSettings = query<{ appNo: number }, { settings: Settings }>(
  'settings.lock',
  'select settings from apps where app_no = :appNo for no key update',
)

export const getSettings = query<{ appNo: number }, { settings: Settings }>(
  'settings.get',
  'select settings from apps where app_no = :appNo',
)

export const updateSettings = query<{ appNo: number; settings: Settings }>(
  'settings.update',
  'update apps set settings = :settings::jsonb where app_no = :appNo',
)
