import {
  type Found,
  Icon,
  type IconName,
  useChatState,
  useClient,
  useConversations,
  usePush,
  useUnread,
} from '@loquat/react'
import { targetOf } from '@loquat/sdk/client'
import { useCallback, useEffect, useMemo, useState } from 'react'
import { type BuiltPart, HowItIsBuilt, partAround } from './built/panel.tsx'
import { useLook, usePhone } from './look.ts'
import { Me } from './me.tsx'
import { stopNotifications, useClickedNotification } from './notifications.ts'
import { AgentActions } from './parts/agents.tsx'
import { Conversation } from './parts/conversation.tsx'
import { Conversations } from './parts/conversations.tsx'
import { About } from './parts/details.tsx'
import { Notifications, WORKER } from './parts/notifications.tsx'
import { Provider } from './parts/provider.tsx'
import { Finder } from './parts/search.tsx'
import { Start } from './parts/start.tsx'
import { Replies } from './parts/thread.tsx'
import { go, type Route, useRoute } from './route.ts'
import type { Session } from './session.ts'

interface ShowcaseProps {
  session: Session
  onSession: (session: Session | undefined) => void
}

export function Showcase({ session, onSession }: ShowcaseProps) {
  const [look, setLook] = useLook()
  const [isBuiltShown, setBuiltShown] = useState(false)
  const [part, setPart] = useState<BuiltPart>('conversation')
  const notice = ({ target }: { target: EventTarget }) => setPart(partAround(target) ?? part)
  return (
    <Provider session={session} look={look}>
      <AgentActions onTheme={(theme) => setLook({ theme })} />
      <div className="showcase" onPointerDownCapture={notice} onFocusCapture={notice}>
        <Panes
          focused={isBuiltShown ? part : undefined}
          onSession={onSession}
          onBuilt={() => setBuiltShown(!isBuiltShown)}
        />
        {isBuiltShown && (
          <HowItIsBuilt
            part={part}
            look={look}
            onPart={setPart}
            onLook={setLook}
            onClose={() => setBuiltShown(false)}
          />
        )}
      </div>
    </Provider>
  )
}

interface PanesProps {
  /** The part whose code is shown. */
  focused: BuiltPart | undefined
  onSession: (session: Session | undefined) => void
  onBuilt: () => void
}

/** What can be open beside the conversation. A thread is in the address. */
type Side = 'search' | 'details' | 'start' | 'notifications'

/** Up to three panes beside each other, or one of them on a phone. */
function Panes({ focused, onSession, onBuilt }: PanesProps) {
  const { target, thread } = useRoute()
  const [side, setSide] = useState<Side>()
  const [found, setFound] = useState<Found>()
  const isPhone = usePhone()
  const client = useClient()
  useSignedOut(() => onSession(undefined))
  useUnreadTitle()
  useFirstConversation(target === undefined && !isPhone)
  const open = useCallback((next: Route) => {
    setSide(undefined)
    setFound(undefined)
    go(next)
  }, [])
  useClickedNotification(useCallback((clicked) => open({ target: clicked }), [open]))
  const signOut = () =>
    void stopNotifications(client)
      .catch(() => undefined)
      .then(() => onSession(undefined))
  const close = () => setSide(undefined)
  const showFound = (next: Found) => {
    setFound(next)
    if (isPhone || next.parentId) close()
    go({ target: next.target, thread: next.parentId })
  }
  const jumpTo = useMemo(() => found && { id: found.messageId }, [found])
  const shown = side ? 'side' : thread ? 'thread' : target ? 'conversation' : 'conversations'
  const pane = (part: BuiltPart, place: string = part) => ({
    ...{ className: 'pane', 'data-part': part, 'data-pane': place },
    'data-focused': part === focused || undefined,
  })
  return (
    <div className="panes" data-shown={shown}>
      <div {...pane('conversations')}>
        <Me onSession={onSession} onSignOut={signOut}>
          <Tool icon="search" label="Search" onClick={() => setSide('search')} />
          <Tool icon="plus" label="New conversation" onClick={() => setSide('start')} />
        </Me>
        <Conversations selected={target} onOpen={(next) => open({ target: next })} />
        <footer className="foot">
          <button type="button" onClick={onBuilt}>
            <Icon name="code" />
            How this is built
          </button>
          <Bell onClick={() => setSide('notifications')} />
        </footer>
      </div>
      {target && (
        <main {...pane('conversation')}>
          <Conversation
            target={target}
            jumpTo={found?.parentId ? undefined : jumpTo}
            onThread={(messageId) => open({ target, thread: messageId })}
            onBack={isPhone ? () => open({}) : undefined}
            tools={
              <>
                <Tool
                  icon="search"
                  label="Search in this conversation"
                  onClick={() => setSide('search')}
                />
                <Tool icon="info" label="Details" onClick={() => setSide('details')} />
              </>
            }
          />
        </main>
      )}
      {target && thread && !side && (
        <div {...pane('thread')}>
          <Replies
            target={target}
            parentId={thread}
            jumpTo={found?.parentId ? jumpTo : undefined}
            onClose={() => open({ target })}
          />
        </div>
      )}
      {side && (
        <div {...pane(side, 'side')}>
          {side === 'search' && <Finder target={target} onFound={showFound} onClose={close} />}
          {side === 'start' && <Start onOpen={(next) => open({ target: next })} onClose={close} />}
          {side === 'notifications' && <Notifications onClose={close} />}
          {side === 'details' && target && (
            <About
              key={target.id}
              target={target}
              onOpen={(next) => open({ target: next })}
              onLeft={() => open({})}
              onClose={close}
            />
          )}
        </div>
      )}
    </div>
  )
}

interface ToolProps {
  icon: IconName
  label: string
  onClick: () => void
}

const Tool = ({ icon, label, onClick }: ToolProps) => (
  <button type="button" className="lq-tool" aria-label={label} title={label} onClick={onClick}>
    <Icon name={icon} />
  </button>
)

/** Whether this browser shows notifications. */
function Bell({ onClick }: { onClick: () => void }) {
  const { state } = usePush(WORKER)
  return <Tool icon={state === 'on' ? 'bell' : 'bellOff'} label="Notifications" onClick={onClick} />
}

/** Back to the choice of people when the token has been revoked. */
function useSignedOut(leave: () => void): void {
  const isOut = useChatState(({ connection }) => connection === 'signedOut')
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when it happens
  useEffect(() => {
    if (isOut) leave()
  }, [isOut])
}

function useUnreadTitle(): void {
  const { messages } = useUnread()
  useEffect(() => {
    document.title = messages > 0 ? `(${messages}) Loquat` : 'Loquat'
  }, [messages])
}

/** With room for several panes, none of them should be empty. */
function useFirstConversation(isWanted: boolean): void {
  const { conversations } = useConversations()
  const [first] = conversations
  useEffect(() => {
    if (isWanted && first) go({ target: targetOf(first) }, true)
  }, [isWanted, first])
}
