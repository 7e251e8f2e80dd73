import { query } from '../../../platform/db/query.ts'

export const SUPPRESSED_FOR = ['bounce', 'complaint', 'unsubscribed'] as const

export type SuppressedRow = {
  id: number
  channel: 'email' | 'sms'
  address: string
  reason: (typeof SUPPRESSED_FOR)[number]
  details: string | null
}

/** Nothing more is sent to it. Who unsubscribed or complained stays so, whatever comes later. */
export const suppressAddress = query<{ appNo: number } & Omit<SuppressedRow, 'id'>>(
  'suppressed.add',
  `insert into suppressed_addresses as s (app_no, id, channel, address, reason, details)
   values (:appNo, tick(), :channel, :address, :reason, left(:details, 500))
   on conflict (app_no, channel, address) do update
     set reason = excluded.reason, details = excluded.details
     where s.reason = 'bounce' and excluded.reason <> 'bounce'`,
)

/** Those of an address, or all, by id. */
export const listSuppressed = query<
  {
    appNo: number
    address: string | null
    down: boolean
    after: number
    before: number
    limit: number
  },
  SuppressedRow
>(
  'suppressed.list',
  `select id, channel, address, reason, details from suppressed_addresses
   where app_no = :appNo and id > :after and id < :before
     and (:address::text is null or address = :address)
   order by case when :down then -id else id end limit :limit`,
)

export const removeSuppressed = query<{ appNo: number; id: number }, { address: string }>(
  'suppressed.remove',
  'delete from suppressed_addresses where app_no = :appNo and id = :id returning address',
)

export const findSuppressed = query<
  { appNo: number; channel: string; address: string },
  SuppressedRow
>(
  'suppressed.find',
  `select id, channel, address, reason, details from suppressed_addresses
   where app_no = :appNo and channel = :channel and address = :address`,
)
