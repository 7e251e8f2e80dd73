import type { Sanction } from '@loquat/sdk'
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../shared/button.tsx'
import { DataTable } from '../../shared/data-table.tsx'
import { Dialog } from '../../shared/dialog.tsx'
import { Empty } from '../../shared/empty.tsx'
import { Choice, Field, Form } from '../../shared/form.tsx'
import { appKey, manage, useAppId } from '../../shared/manage.ts'
import { Facts } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { recordsOf } from '../../shared/records.ts'
import { Status } from '../../shared/status.tsx'
import { Time } from '../../shared/time.tsx'
import { toast } from '../../shared/toasts.tsx'
import { LENGTHS, untilOf } from './lengths.ts'

const KINDS = { mute: 'Mute', ban: 'Ban' }

/** Who is muted or banned, where and until when. */
export function Sanctions() {
  const appId = useAppId()
  const [openId, setOpenId] = useState<string>()
  const list = useInfiniteQuery({
    queryKey: appKey(appId, 'moderation', 'sanctions'),
    queryFn: ({ pageParam }) =>
      manage.app(appId).sanctions.list({
        limit: 100,
        affix: 'append',
        ...(pageParam && { id: pageParam }),
      }),
    initialPageParam: '',
    getNextPageParam: ({ meta }) => meta.next?.id,
  })
  const sanctions = { ...recordsOf(list), total: undefined }
  const open = sanctions.rows.find(({ id }) => id === openId)
  return (
    <div className="stack">
      <div className="row moderation-head">
        <Dialog
          title="Mute or ban a user"
          trigger={
            <Button look="main" icon="plus">
              Mute or ban
            </Button>
          }
        >
          {(close) => <SanctionForm onDone={close} />}
        </Dialog>
      </div>
      <DataTable
        label="Sanctions"
        list={sanctions}
        id={({ id }) => id}
        text={({ uid }) => uid}
        onOpen={setOpenId}
        columns={[
          { name: 'User', cell: ({ uid }) => <code className="clip">{uid}</code> },
          {
            name: 'Kind',
            cell: ({ kind }) => (
              <Status tone={kind === 'ban' ? 'bad' : 'warn'}>{KINDS[kind]}</Status>
            ),
            width: 90,
          },
          {
            name: 'Where',
            cell: ({ guid }) =>
              guid === undefined ? 'Whole app' : <code className="clip">{guid}</code>,
            wide: true,
          },
          {
            name: 'Reason',
            cell: ({ reason }) => (
              <span className="clip" dir="auto">
                {reason}
              </span>
            ),
            width: '2fr',
            wide: true,
          },
          {
            name: 'Ends',
            cell: ({ until }) => (until === undefined ? 'When lifted' : <Time at={until} />),
            width: 130,
          },
        ]}
        empty={
          <Empty title="No sanctions">Users whom you mute or ban appear here until it ends.</Empty>
        }
      />
      <Dialog
        title={open ? `${KINDS[open.kind]} of ${open.uid}` : ''}
        isOpen={open !== undefined}
        onClose={() => setOpenId(undefined)}
      >
        {open && <WholeSanction sanction={open} onDone={() => setOpenId(undefined)} />}
      </Dialog>
    </div>
  )
}

function WholeSanction({ sanction, onDone }: { sanction: Sanction; onDone: () => void }) {
  const appId = useAppId()
  const queries = useQueryClient()
  const { id, uid, guid, reason, until, createdAt } = sanction
  const lift = useMutation({
    mutationFn: () => manage.app(appId).sanctions.delete(id),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: appKey(appId, 'moderation', 'sanctions') })
      onDone()
      toast('Lifted')
    },
  })
  return (
    <div className="stack">
      <Facts
        facts={{
          User: <code>{uid}</code>,
          Where: guid ? <code>{guid}</code> : 'Whole app',
          Reason: <span dir="auto">{reason}</span>,
          Since: <Time at={createdAt} />,
          Ends: until === undefined ? 'When lifted' : <Time at={until} />,
        }}
      />
      <Problem error={lift.error} />
      <div className="toolbar">
        <Button look="danger" onPress={() => lift.mutate()}>
          Lift
        </Button>
      </div>
    </div>
  )
}

function SanctionForm({ onDone }: { onDone: () => void }) {
  const appId = useAppId()
  const queries = useQueryClient()
  const [uid, setUid] = useState('')
  const [kind, setKind] = useState<Sanction['kind']>('mute')
  const [guid, setGuid] = useState('')
  const [length, setLength] = useState<keyof typeof LENGTHS>('86400')
  const [reason, setReason] = useState('')
  const until = untilOf(length)
  const save = useMutation({
    mutationFn: () =>
      manage.app(appId).sanctions.create({
        ...{ uid, kind, reason },
        ...(guid && { guid }),
        ...(until !== undefined && { until }),
      }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: appKey(appId, 'moderation', 'sanctions') })
      onDone()
      toast(kind === 'mute' ? `Muted ${uid}` : `Banned ${uid}`)
    },
  })
  return (
    <Form mutation={save} submit={KINDS[kind]} look="danger main">
      <Field label="User" hint="The UID." mono value={uid} onChange={setUid} autoFocus />
      <Choice label="Kind" value={kind} options={KINDS} onChange={setKind} />
      <Choice label="For" value={length} options={LENGTHS} onChange={setLength} />
      <Field
        label="Group"
        hint="The GUID. Leave it empty for the whole app."
        mono
        required={false}
        value={guid}
        onChange={setGuid}
      />
      <Field
        label="Reason"
        hint="The user sees it."
        value={reason}
        onChange={setReason}
        maxLength={500}
      />
    </Form>
  )
}
