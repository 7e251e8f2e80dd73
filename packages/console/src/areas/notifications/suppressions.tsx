import type { Suppression } from '@loquat/sdk'
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../shared/button.tsx'
import { DataTable } from '../../shared/data-table.tsx'
import { Dialog } from '../../shared/dialog.tsx'
import { Empty } from '../../shared/empty.tsx'
import { Choice, Field, Form } from '../../shared/form.tsx'
import { appKey, manage, useAppId } from '../../shared/manage.ts'
import { Facts } from '../../shared/page.tsx'
import { recordsOf } from '../../shared/records.ts'
import { SearchField } from '../../shared/search-field.tsx'
import { Status } from '../../shared/status.tsx'
import { Time } from '../../shared/time.tsx'
import { toast } from '../../shared/toasts.tsx'

const CHANNELS = { email: 'Email', sms: 'SMS' }
const REASONS = {
  bounce: ['Bounced', 'It doesn’t exist.'],
  complaint: ['Complained', 'Its owner reported an email as spam.'],
  unsubscribed: ['Unsubscribed', 'Its owner wants no emails.'],
} as const

const keyOf = (appId: string) => appKey(appId, 'notifications', 'suppressions')

/** Addresses that get no more emails or SMS. */
export function Suppressions() {
  const appId = useAppId()
  const [address, setAddress] = useState('')
  const [openId, setOpenId] = useState<string>()
  const list = useInfiniteQuery({
    queryKey: [...keyOf(appId), address],
    queryFn: ({ pageParam }) =>
      manage.app(appId).suppressions.list({
        ...{ limit: 100, affix: 'append' },
        ...(address && { address }),
        ...(pageParam && { id: pageParam }),
      }),
    initialPageParam: '',
    getNextPageParam: ({ meta }) => meta.next?.id,
  })
  const found = { ...recordsOf(list), total: undefined }
  const open = found.rows.find(({ id }) => id === openId)
  return (
    <div className="stack">
      <div className="toolbar">
        <SearchField label="Address" value={address} onChange={setAddress} />
        <Dialog
          title="Suppress an address"
          trigger={
            <Button look="main" icon="plus">
              Suppress address
            </Button>
          }
        >
          {(close) => <SuppressForm onDone={close} />}
        </Dialog>
      </div>
      <DataTable
        label="Suppressed addresses"
        list={found}
        id={({ id }) => id}
        text={(each) => each.address}
        onOpen={setOpenId}
        columns={[
          { name: 'Address', cell: (each) => <span className="clip">{each.address}</span> },
          {
            name: 'Reason',
            cell: ({ reason }) => (
              <Status tone={reason === 'unsubscribed' ? 'info' : 'warn'}>
                {REASONS[reason][0]}
              </Status>
            ),
            width: 140,
          },
          { name: 'Channel', cell: ({ channel }) => CHANNELS[channel], width: 90, wide: true },
          {
            name: 'Since',
            cell: ({ createdAt }) => <Time at={createdAt} />,
            width: 130,
            wide: true,
          },
        ]}
        empty={
          address ? (
            <Empty title="Not suppressed">Emails and SMS reach this address.</Empty>
          ) : (
            <Empty title="No suppressed addresses">
              Addresses that don’t exist, and those whose owners complain or unsubscribe, appear
              here and get nothing more.
            </Empty>
          )
        }
      />
      <Dialog
        title={open?.address ?? ''}
        isOpen={open !== undefined}
        onClose={() => setOpenId(undefined)}
      >
        {open && <Whole suppression={open} onDone={() => setOpenId(undefined)} />}
      </Dialog>
    </div>
  )
}

function Whole({ suppression, onDone }: { suppression: Suppression; onDone: () => void }) {
  const appId = useAppId()
  const queries = useQueryClient()
  const { id, channel, reason, details, createdAt } = suppression
  const remove = useMutation({
    mutationFn: () => manage.app(appId).suppressions.delete(id),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: keyOf(appId) })
      onDone()
      toast('It gets notifications again')
    },
  })
  return (
    <div className="stack">
      <Facts
        facts={{
          Channel: CHANNELS[channel],
          Reason: `${REASONS[reason][0]}. ${REASONS[reason][1]}`,
          ...(details && { 'The provider said': details }),
          Since: <Time at={createdAt} />,
        }}
      />
      <Form mutation={remove} submit="Send to it again">
        <small>
          Only if its owner asked for it: mail services block senders that people report.
        </small>
      </Form>
    </div>
  )
}

function SuppressForm({ onDone }: { onDone: () => void }) {
  const appId = useAppId()
  const queries = useQueryClient()
  const [channel, setChannel] = useState<keyof typeof CHANNELS>('email')
  const [address, setAddress] = useState('')
  const add = useMutation({
    mutationFn: () => manage.app(appId).suppressions.create({ channel, address: address.trim() }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: keyOf(appId) })
      onDone()
      toast('Suppressed')
    },
  })
  return (
    <Form mutation={add} submit="Suppress">
      <Choice label="Channel" value={channel} options={CHANNELS} onChange={setChannel} />
      <Field
        label={channel === 'email' ? 'Email address' : 'Phone number'}
        autoFocus
        value={address}
        onChange={setAddress}
      />
    </Form>
  )
}
