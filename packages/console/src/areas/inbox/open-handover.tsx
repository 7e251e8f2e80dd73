import type { AgentHandover, Message } from '@loquat/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useId, useRef, useState } from 'react'
import { NamedAvatar } from '../../shared/avatar.tsx'
import { Button } from '../../shared/button.tsx'
import { submitOnEnter } from '../../shared/enter.ts'
import { inboxKey } from '../../shared/handovers.ts'
import { Icon } from '../../shared/icons.tsx'
import { manage, useAppId, useSession } from '../../shared/manage.ts'
import type { Named } from '../../shared/names.ts'
import { Skeleton } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { Status } from '../../shared/status.tsx'
import { Time } from '../../shared/time.tsx'
import { toast } from '../../shared/toasts.tsx'
import { Body } from '../conversations/body.tsx'
import { senderOf } from '../conversations/content.ts'
import { OPENERS, stateOf } from './words.ts'

const REFRESH_MS = 3_000
/** The longest answer that the service takes. */
const LONGEST = 5_000

/** One conversation: who it is with, why it was handed over, its last messages, and what one can do. */
export function OpenHandover(props: { handover: AgentHandover; user: Named; agent: Named }) {
  const { handover, user, agent } = props
  const { id, state, reason, openedBy, conversationId } = handover
  const appId = useAppId()
  const queries = useQueryClient()
  const me = useSession().data?.operator.email
  const refresh = () => queries.invalidateQueries({ queryKey: inboxKey(appId) })
  const { agentHandovers } = manage.app(appId)
  const take = useMutation({
    mutationFn: (from: string | undefined) => agentHandovers.take(id, { ...(from && { from }) }),
    // Also if somebody was faster: the page says who.
    onSettled: refresh,
  })
  const close = useMutation({
    mutationFn: () => agentHandovers.close(id),
    onSuccess: () => toast(`${agent.name} answers again`),
    onSettled: refresh,
  })
  const { label, tone } = stateOf(handover)
  const isMine = state === 'taken' && handover.takenBy === me
  // Here, so that it isn't lost when somebody else takes over.
  const [draft, setDraft] = useState('')
  return (
    <section className="panel queue-item" aria-label="Conversation">
      <div className="row queue-actions">
        <Link to="/apps/$appId/users/$uid" params={{ appId, uid: user.id }} className="inbox-user">
          <NamedAvatar {...user} />
        </Link>
        <Status tone={isMine ? 'good' : tone}>{isMine ? 'You answer' : label}</Status>
        <span className="row row-end">
          {state === 'open' && (
            <Button look="main" isDisabled={take.isPending} onPress={() => take.mutate(undefined)}>
              Take
            </Button>
          )}
          {state === 'taken' && !isMine && (
            <Button isDisabled={take.isPending} onPress={() => take.mutate(handover.takenBy)}>
              Take over
            </Button>
          )}
          {state !== 'closed' && (
            <Button isDisabled={close.isPending} onPress={() => close.mutate()}>
              Hand back
            </Button>
          )}
        </span>
      </div>
      <Problem error={take.error ?? close.error} />
      <p className="soft">{OPENERS[openedBy]}</p>
      {reason && (
        <blockquote className="inbox-reason" dir="auto">
          {reason}
        </blockquote>
      )}
      <Messages conversationId={conversationId} agentUid={agent.id} />
      {isMine && <Answer id={id} agent={agent.name} onSent={refresh} {...{ draft, setDraft }} />}
      {!isMine && draft.trim() !== '' && (
        <Unsent text={draft} label={label} onDiscard={() => setDraft('')} />
      )}
    </section>
  )
}

/** The last messages, oldest first, with the answers of the agent. */
function Messages({ conversationId, agentUid }: { conversationId: string; agentUid: string }) {
  const appId = useAppId()
  const messages = useQuery({
    queryKey: inboxKey(appId, 'messages', conversationId),
    queryFn: () => manage.app(appId).messages.list({ conversationId, affix: 'prepend', limit: 50 }),
    refetchInterval: REFRESH_MS,
  })
  const log = useRef<HTMLDivElement>(null)
  const last = messages.data?.data.at(-1)?.id
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new message moves the end into view
  useEffect(() => {
    log.current?.scrollTo({ top: log.current.scrollHeight })
  }, [last])
  if (messages.isPending) return <Skeleton lines={3} />
  return (
    <>
      <Problem error={messages.error} retry={messages.refetch} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable element must be reachable by keyboard */}
      <div ref={log} className="inbox-log" tabIndex={0} role="log" aria-label="Messages">
        <ol className="queue-context">
          {messages.data?.data.map((message) => (
            <Line key={message.id} message={message} isAgent={message.sender === agentUid} />
          ))}
          {messages.data?.data.length === 0 && <li className="soft">No messages yet.</li>}
        </ol>
      </div>
    </>
  )
}

function Line({ message, isAgent }: { message: Message; isAgent: boolean }) {
  const isPerson = isAgent && message.category === 'message'
  return (
    <li className={isAgent ? 'inbox-agent' : ''}>
      <small>
        <strong>
          <bdi>{senderOf(message).name}</bdi>
        </strong>
        {isPerson && ' · a person'} · <Time at={message.sentAt} />
      </small>
      <Body message={message} />
    </li>
  )
}

/** What somebody was writing when another person took over, or the conversation was handed back. */
function Unsent(props: { text: string; label: string; onDiscard: () => void }) {
  return (
    <div className="inbox-unsent">
      <p role="alert">{props.label}. You hadn't sent this:</p>
      <blockquote className="inbox-reason" dir="auto">
        {props.text}
      </blockquote>
      <Button onPress={props.onDiscard}>Discard</Button>
    </div>
  )
}

/** Sends a text as the agent. */
function Answer(props: {
  id: string
  agent: string
  onSent: () => void
  draft: string
  setDraft: (change: (now: string) => string) => void
}) {
  const appId = useAppId()
  const field = useId()
  const { draft: text, setDraft } = props
  const send = useMutation({
    mutationFn: (sent: string) => manage.app(appId).agentHandovers.answer(props.id, { text: sent }),
    onSuccess: (_, sent) => {
      // Keep the text if the operator went on typing.
      setDraft((now) => (now === sent ? '' : now))
      props.onSent()
    },
  })
  return (
    <form
      className="inbox-answer"
      onSubmit={(event) => {
        event.preventDefault()
        if (text.trim() && !send.isPending) send.mutate(text)
      }}
    >
      <Problem error={send.error} />
      <label className="hidden-text" htmlFor={field}>
        Answer
      </label>
      <textarea
        id={field}
        className="input"
        rows={1}
        dir="auto"
        maxLength={LONGEST}
        placeholder={`Answer as ${props.agent}`}
        value={text}
        onChange={({ target }) => setDraft(() => target.value)}
        onKeyDown={submitOnEnter}
      />
      <button
        type="submit"
        className="button main icon"
        aria-label="Send"
        aria-disabled={send.isPending || !text.trim()}
      >
        <Icon name="send" />
      </button>
    </form>
  )
}
