import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../shared/button.tsx'
import { Dialog } from '../../shared/dialog.tsx'
import { Field, Form } from '../../shared/form.tsx'
import { appKey, manage, useAppId } from '../../shared/manage.ts'
import { toast } from '../../shared/toasts.tsx'

const eventsText = (count: number) => (count === 1 ? '1 event' : `${count} events`)

/** Sends the events of a range of positions again. */
export function useReplay(webhookId: string, onDone?: () => void) {
  const appId = useAppId()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (range: { from: number; to?: number }) =>
      manage.app(appId).webhooks.replayEvents(webhookId, range),
    onSuccess: async ({ events }) => {
      onDone?.()
      toast(
        events === 0
          ? 'None of these events match the triggers of this webhook'
          : `Resending ${eventsText(events)}`,
      )
      await queries.invalidateQueries({ queryKey: appKey(appId, 'webhooks', webhookId) })
    },
  })
}

export function Replay({ webhookId }: { webhookId: string }) {
  return (
    <Dialog title="Replay events" trigger={<Button icon="reply">Replay</Button>}>
      {(close) => <ReplayForm webhookId={webhookId} onDone={close} />}
    </Dialog>
  )
}

function ReplayForm({ webhookId, onDone }: { webhookId: string; onDone: () => void }) {
  const replay = useReplay(webhookId, onDone)
  const [from, setFrom] = useState('')
  const [to, setTo] = useState('')
  const range = { from: Number(from), ...(to && { to: Number(to) }) }
  return (
    <Form mutation={{ ...replay, mutate: () => replay.mutate(range) }} submit="Replay events">
      <p className="soft">
        Every event has a position in the app's event log. All events in the range that match the
        webhook's triggers are sent again, in order, with the same IDs.
      </p>
      <div className="pair">
        <Field label="From position" type="number" value={from} onChange={setFrom} autoFocus />
        <Field
          label="To position"
          hint="If empty, only one event is sent."
          type="number"
          required={false}
          value={to}
          onChange={setTo}
        />
      </div>
    </Form>
  )
}
