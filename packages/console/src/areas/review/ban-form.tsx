import type { ReviewItem } from '@loquat/sdk'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { NamedAvatar } from '../../shared/avatar.tsx'
import { Check, Choice, Field, Form } from '../../shared/form.tsx'
import { manage, useAppId } from '../../shared/manage.ts'
import { partyOf, senderOf } from '../conversations/content.ts'
import { LENGTHS, untilOf } from '../moderation/lengths.ts'

const WHAT = { ban: 'Ban', mute: 'Mute', kick: 'Kick from the group', deactivate: 'Deactivate' }

/** Rejects an item, and acts on its user. */
export function BanForm(props: { item: ReviewItem; note: string; onDone: () => Promise<void> }) {
  const { item, note, onDone } = props
  const appId = useAppId()
  const user = item.message ? senderOf(item.message) : item.user && partyOf(item.user)
  const inGroup = item.message?.receiverType === 'group'
  const [does, setDoes] = useState<keyof typeof WHAT>('ban')
  const [length, setLength] = useState<keyof typeof LENGTHS>('86400')
  const [everywhere, setEverywhere] = useState(!inGroup)
  const [reason, setReason] = useState('')
  const { kick: _kick, ...always } = WHAT
  const until = untilOf(length)
  const act = useMutation({
    mutationFn: () =>
      manage.app(appId).reviewItems.decide(item.id, {
        decision: 'reject',
        ...(note && { note }),
        ...(reason && { reason }),
        actions: [
          does === 'ban' || does === 'mute'
            ? { does, everywhere, ...(until !== undefined && { until }) }
            : { does },
        ],
      }),
    onSuccess: onDone,
  })
  const ends = does === 'ban' || does === 'mute'
  return (
    <Form mutation={act} submit="Reject and act" look="danger main">
      {user && <NamedAvatar id={user.id} name={user.name} url={user.picture} />}
      <Choice
        label="What happens to the user"
        value={does}
        options={(inGroup ? WHAT : always) as typeof WHAT}
        onChange={setDoes}
      />
      {ends && <Choice label="For" value={length} options={LENGTHS} onChange={setLength} />}
      {ends && inGroup && (
        <Check
          label="In the whole app"
          hint="Otherwise only in the group of the message."
          checked={everywhere}
          onChange={setEverywhere}
        />
      )}
      {ends && (
        <Field
          label="Reason"
          hint="The user sees it."
          required={false}
          value={reason}
          onChange={setReason}
          maxLength={500}
        />
      )}
    </Form>
  )
}
