import type { DirectoryRows } from '../../../db/rows.gen.ts'
import { directoryQuery } from '../db/query.ts'

export type MediaServerRow = Pick<DirectoryRows['media_servers'], 'address' | 'drained' | 'region'>

export const listMediaServers = directoryQuery<Record<string, never>, MediaServerRow>(
  'directory.listMediaServers',
  'select address, drained, region from media_servers order by address',
)

/** It gets new calls of the region. Null: of the region that it had, or of all. */
export const upsertMediaServer = directoryQuery<Omit<MediaServerRow, 'drained'>>(
  'directory.upsertMediaServer',
  `insert into media_servers (address, region) values (:address, :region)
   on conflict (address) do update set drained = false,
     region = coalesce(excluded.region, media_servers.region)`,
)

/** Also one that the environment names, which has no row before. */
export const drainMediaServer = directoryQuery<{ address: string }>(
  'directory.drainMediaServer',
  `insert into media_servers (address, drained) values (:address, true)
   on conflict (address) do update set drained = true`,
)

export const removeMediaServer = directoryQuery<{ address: string }>(
  'directory.removeMediaServer',
  'delete from media_servers where address = :address',
)
