import { useMutation, useQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { submitOnEnter } from '../../shared/enter.ts'
import { Icon } from '../../shared/icons.tsx'
import { appKey, manage } from '../../shared/manage.ts'
import { Problem } from '../../shared/problem.tsx'
import type { Party } from './content.ts'

const APP = 'app_system'

/** Sends a message on behalf of a user, or as the app. */
export function Composer(props: {
  appId: string
  conversationId: string
  parties: Party[]
  /** Sends the message as a reply to this one. */
  parentMessageId?: string
  onSent: () => void
}) {
  const { appId, conversationId, parties, parentMessageId, onSent } = props
  const id = useId()
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState<string>()
  const guid = parties[0]?.kind === 'group' ? parties[0].id : undefined
  const members = useQuery({
    queryKey: appKey(appId, 'groups', 'senders', guid),
    queryFn: () => manage.app(appId).groupMembers.list(guid ?? '', { perPage: 100 }),
    enabled: guid !== undefined,
    staleTime: 60_000,
  })
  // Only its two users can write in a 1:1 conversation. A message from the app to one of them starts another conversation.
  const senders: { id: string; name: string }[] = guid
    ? [
        { id: APP, name: 'The app' },
        ...(members.data?.data.map(({ uid, name }) => ({ id: uid, name })) ?? []),
      ]
    : parties
  const sender = chosen ?? senders[0]?.id ?? APP
  const send = useMutation({
    mutationFn: (sent: string) => {
      const app = manage.app(appId)
      const api = sender === APP ? app : app.onBehalfOf(sender)
      const receiver = guid ?? parties.find((one) => one.id !== sender)?.id ?? sender
      const receiverType = guid ? 'group' : 'user'
      return api.messages.send({ receiver, receiverType, data: { text: sent }, parentMessageId })
    },
    onSuccess: (_message, sent) => {
      // Keep the text if the operator went on typing.
      setText((now) => (now === sent ? '' : now))
      onSent()
    },
  })
  if (parties.length === 0) return null
  return (
    <form
      className="composer"
      aria-label={`Send a message to ${conversationId}`}
      onSubmit={(event) => {
        event.preventDefault()
        if (text.trim() && !send.isPending) send.mutate(text)
      }}
    >
      <Problem error={send.error} />
      <div className="composer-line">
        <label className="hidden-text" htmlFor={`${id}as`}>
          Send as
        </label>
        <select
          id={`${id}as`}
          className="input"
          value={sender}
          onChange={(event) => setChosen(event.target.value)}
        >
          {senders.map((one) => (
            <option key={one.id} value={one.id}>
              {one.name}
            </option>
          ))}
        </select>
        <label className="hidden-text" htmlFor={`${id}text`}>
          Message
        </label>
        <textarea
          id={`${id}text`}
          className="input"
          rows={1}
          dir="auto"
          placeholder="Write a message"
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={submitOnEnter}
        />
        <button
          type="submit"
          className="button main icon"
          aria-label="Send"
          // A disabled button would lose the focus, and Escape would no longer close the dialog around it.
          aria-disabled={send.isPending || !text.trim()}
        >
          <Icon name="send" />
        </button>
      </div>
    </form>
  )
}
