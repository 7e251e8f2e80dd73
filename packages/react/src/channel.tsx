'use client'
import type { ChatMessage, Target } from '@loquat/sdk/client'
import { lazy, type ReactNode, Suspense, useEffect, useMemo, useRef, useState } from 'react'
import { Avatar } from './avatar.tsx'
import { useChat, useClient, useStrings } from './chat.tsx'
import { Composer } from './composer.tsx'
import { filesOf, partyFrom } from './content.ts'
import type { Picture } from './gallery.tsx'
import { HandoverLine } from './handover.tsx'
import { useIsAgent } from './hooks/answers.ts'
import { useConnection } from './hooks/chat-state.ts'
import { useParty } from './hooks/party.ts'
import { usePresence, useTyping, useUser } from './hooks/people.ts'
import { Icon } from './icons.tsx'
import { MessageList } from './message-list.tsx'
import { RoomContext, type RoomState, useRoom } from './room.tsx'

const Gallery = lazy(() => import('./gallery.tsx').then((loaded) => ({ default: loaded.Gallery })))

export interface ChannelProps {
  target: Target
  /** The name to show until it is loaded. */
  name?: string | undefined
  /** Opens the thread of a message. Without it, there are no threads. */
  onThread?: ((messageId: string) => void) | undefined
  /** Goes back to the list, on narrow screens. */
  onBack?: (() => void) | undefined
  /** A message to show, for example a search result. A new object jumps again. */
  jumpTo?: { id: string } | undefined
  /** Replaces the header, list and composer. */
  children?: ReactNode | undefined
}

/** A conversation: header, messages and composer. */
export function Channel(props: ChannelProps) {
  const { target, children } = props
  // Another conversation starts afresh.
  return (
    <RoomProvider key={`${target.type} ${target.id}`} {...props}>
      <section className="lq-channel">
        {children ?? (
          <>
            <ChannelHeader onBack={props.onBack} />
            <ConnectionBar />
            <MessageList />
            <TypingLine />
            <HandoverLine />
            <Composer />
          </>
        )}
      </section>
    </RoomProvider>
  )
}

interface RoomProviderProps extends Omit<ChannelProps, 'onBack'> {
  parentId?: string | undefined
  children?: ReactNode | undefined
}

/** Shares the state of a room with the parts in it. */
export function RoomProvider(props: RoomProviderProps) {
  const { target, parentId, name: given, onThread: openThread, jumpTo: wanted, children } = props
  const { type, id } = target
  const client = useClient()
  const name = useParty(target)?.name ?? given ?? id
  const [editing, setEditing] = useState<ChatMessage>()
  const [quoting, setQuoting] = useState<ChatMessage>()
  const [gallery, setGallery] = useState<{ pictures: readonly Picture[]; start: number }>()
  const jump = useRef<(messageId: string) => void>(undefined)
  const room = useMemo<RoomState>(
    () => ({
      ...{ target: { type, id }, parentId, name, editing, quoting, openThread },
      edit: (message) => {
        setQuoting(undefined)
        setEditing(message)
      },
      quote: (message) => {
        setEditing(undefined)
        setQuoting(message)
      },
      showPicture: (message, url) => {
        const key = client.idOf({ type, id }, parentId)
        const shown = picturesOf(client.state.rooms[key]?.messages ?? [])
        const start = shown.findIndex(
          (one) => one.message.id === message.id && one.file.url === url,
        )
        const alone = () => picturesOf([message]).filter(({ file }) => file.url === url)
        setGallery(start < 0 ? { pictures: alone(), start: 0 } : { pictures: shown, start })
      },
      jumpTo: (messageId) => jump.current?.(messageId),
      setJump: (next) => {
        jump.current = next
      },
    }),
    [client, type, id, parentId, name, editing, quoting, openThread],
  )
  useEffect(() => {
    if (wanted) jump.current?.(wanted.id)
  }, [wanted])
  return (
    <RoomContext value={room}>
      {children}
      {gallery && (
        <Suspense>
          <Gallery {...gallery} onClose={() => setGallery(undefined)} />
        </Suspense>
      )}
    </RoomContext>
  )
}

const picturesOf = (messages: readonly ChatMessage[]): Picture[] =>
  messages
    .filter(({ deletedAt }) => deletedAt === undefined)
    .flatMap((message) => filesOf(message).map((file) => ({ file, message })))
    .filter(({ file }) => file.kind === 'image')

/** Who the conversation is with. */
export function ChannelHeader({
  onBack,
  children,
}: {
  onBack?: (() => void) | undefined
  /** Buttons at the end of the header. */
  children?: ReactNode
}) {
  const { strings, parts } = useChat()
  const { target, name } = useRoom()
  const party = useParty(target)
  const presence = usePresence(target.type === 'user' ? target.id : '')
  const AvatarPart = parts.Avatar ?? Avatar
  const isAgent = useIsAgent(target)
  const status = isAgent
    ? strings.agent
    : party && 'guid' in party
      ? strings.members(party.membersCount)
      : presence && (presence === 'online' ? strings.online : strings.offline)
  return (
    <header className="lq-header">
      {onBack && (
        <button
          type="button"
          className="lq-tool lq-back"
          aria-label={strings.back}
          onClick={onBack}
        >
          <Icon name="back" />
        </button>
      )}
      <AvatarPart
        id={target.id}
        name={name}
        picture={party && partyFrom(party).picture}
        kind={target.type}
        withPresence={!isAgent}
      />
      <div className="lq-header-names">
        <h2 className="lq-clip">
          <bdi>{name}</bdi>
        </h2>
        {status && <small className="lq-soft">{status}</small>}
      </div>
      {children}
    </header>
  )
}

/** Says that the connection is lost, once that takes longer than a moment, or that it has ended. */
export function ConnectionBar() {
  const strings = useStrings()
  const { isLost, isEnded } = useConnection()
  return (
    <div role="status">
      {isLost && <p className="lq-connection">{strings.reconnecting}</p>}
      {isEnded && <p className="lq-connection">{strings.signedOut}</p>}
    </div>
  )
}

/** Who is typing. It always takes the same space. */
export function TypingLine() {
  const strings = useStrings()
  const { target } = useRoom()
  const { uids } = useTyping(target)
  const one = useUser(uids[0])
  const other = useUser(uids[1])
  const names = uids.slice(0, 3).map((uid, nth) => [one, other][nth]?.name ?? uid)
  return (
    <p className="lq-typing" role="status">
      {names.length > 0 && (
        <>
          <span className="lq-dots" aria-hidden="true">
            <i />
            <i />
            <i />
          </span>
          {strings.typing(names)}
        </>
      )}
    </p>
  )
}
