/** A page with the main components, as small as a user of the kit would write it. The address says who signs in and how. */
import { Answers } from '@loquat/sdk/agents'
import { LoquatClient, type Target } from '@loquat/sdk/client'
import { StrictMode, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { Call, CallButtons, CallsProvider, IncomingCalls } from '../../src/calls.ts'
import {
  Channel,
  ChannelHeader,
  ChatProvider,
  Composer,
  ConversationList,
  Details,
  en,
  MessageList,
  type MessagePartProps,
  Thread,
  ToolSteps,
  useFrontendActions,
} from '../../src/index.ts'
import { ar } from '../../src/strings/ar.ts'
import { es } from '../../src/strings/es.ts'
import '../../src/theme.css'

const query = Object.fromEntries(new URLSearchParams(location.search))
const {
  appId = '',
  uid = '',
  authToken = '',
  lang = 'en',
  layout,
  theme,
  density,
  jump,
  details,
  calls,
  parts,
  opened,
  plain,
} = query

const client = new LoquatClient({
  ...{ appId, uid, authToken, presence: 'all' as const },
  baseUrl: location.origin,
  Answers,
})
Object.assign(window, { client })

/** What agents may do in this page. */
const frontendActions = {
  openShift: ({ day }: Record<string, unknown>) => {
    if (day === 'Sunday') throw new Error('Nobody works on Sunday.')
    return { opened: day }
  },
}

function Actions() {
  useFrontendActions(frontendActions)
  return null
}

/** Parts that the page replaces. */
const own = {
  ToolSteps: (props: MessagePartProps) => (
    <div className="own-steps">
      <ToolSteps {...props} />
    </div>
  ),
  AgentBadge: () => <b className="own-badge">robot</b>,
}

type Choice<T> = T | undefined

function Page() {
  const [target, setTarget] = useState<Target | undefined>(
    opened ? { type: 'user', id: opened } : undefined,
  )
  const [thread, setThread] = useState<string>()
  const [isDetailed, setDetailed] = useState(true)
  const [wanted] = useState(jump ? { id: jump } : undefined)
  const open = (next: Target | undefined) => {
    setTarget(next)
    setDetailed(true)
    setThread(undefined)
  }
  return (
    <ChatProvider
      client={client}
      strings={{ en, es, ar }[lang] ?? en}
      layout={layout as Choice<'workspace' | 'messenger'>}
      theme={theme as Choice<'light' | 'dark'>}
      handovers
      density={density as Choice<'comfortable' | 'compact'>}
      parts={parts ? own : undefined}
    >
      <Actions />
      <CallsProvider>
        <main
          className="page"
          style={{ display: 'flex', flex: 1, minWidth: 0 }}
          data-open={target && ''}
          data-thread={thread && ''}
        >
          <div className="list">
            <ConversationList selected={target} onSelect={open} />
          </div>
          {target && (
            <Channel
              target={target}
              onThread={setThread}
              onBack={() => open(undefined)}
              jumpTo={wanted}
            >
              {calls && (
                <>
                  <ChannelHeader onBack={() => open(undefined)}>
                    <CallButtons />
                  </ChannelHeader>
                  <MessageList />
                  <Composer />
                </>
              )}
            </Channel>
          )}
          {target && details && isDetailed && (
            <Details target={target} onClose={() => setDetailed(false)} />
          )}
          {target && thread && (
            <Thread target={target} parentId={thread} onClose={() => setThread(undefined)} />
          )}
        </main>
        {calls && (
          <>
            <IncomingCalls />
            <Call />
          </>
        )}
      </CallsProvider>
    </ChatProvider>
  )
}

/** The parts directly in the provider, without any styles of the page. */
function PlainPage() {
  const [target, setTarget] = useState<Target>()
  const [thread, setThread] = useState<string>()
  return (
    <ChatProvider client={client}>
      <ConversationList selected={target} onSelect={setTarget} />
      {target && (
        <Channel target={target} onThread={setThread} onBack={() => setTarget(undefined)} />
      )}
      {target && thread && (
        <Thread target={target} parentId={thread} onClose={() => setThread(undefined)} />
      )}
    </ChatProvider>
  )
}

const root = document.getElementById('root')
if (root) createRoot(root).render(<StrictMode>{plain ? <PlainPage /> : <Page />}</StrictMode>)
