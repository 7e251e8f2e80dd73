import { ChatProvider, en } from '@loquat/react'
import { Call, CallsProvider, IncomingCalls } from '@loquat/react/calls'
import { ar } from '@loquat/react/strings/ar'
import { es } from '@loquat/react/strings/es'
import { Answers } from '@loquat/sdk/agents'
import { LoquatClient } from '@loquat/sdk/client'
import { type ReactNode, useState } from 'react'
import type { Look } from '../look.ts'
import type { Session } from '../session.ts'

/** Everything else is inside. The provider connects, and sets how all parts look and speak. */
export function Provider({ session, look, children }: ProviderProps) {
  const [client] = useState(
    () => new LoquatClient({ ...session, baseUrl: location.origin, presence: 'all', Answers }),
  )
  const { layout, theme, density, language } = look
  return (
    <ChatProvider
      client={client}
      layout={layout}
      theme={theme}
      density={density}
      strings={{ en, es, ar }[language]}
      handovers
    >
      <CallsProvider>
        {children}
        <IncomingCalls />
        <Call />
      </CallsProvider>
    </ChatProvider>
  )
}

interface ProviderProps {
  session: Session
  look: Look
  children: ReactNode
}
