'use client'
import type { LoquatClient } from '@loquat/sdk/client'
import { createContext, type ReactNode, useContext, useEffect, useMemo } from 'react'
import type { Parts } from './parts.ts'
import { en, type Strings } from './strings/en.ts'

export interface Chat {
  client: LoquatClient
  strings: Strings
  parts: Partial<Parts>
  /** Whether users can ask for a person in conversations with agents. */
  handovers: boolean
}

const ChatContext = createContext<Chat | undefined>(undefined)

export interface ChatProviderProps {
  client: LoquatClient
  children: ReactNode
  /** The texts of the components. Defaults to English. */
  strings?: Strings | undefined
  /** `workspace`: rows on the left. `messenger`: bubbles, the user's own on the right. */
  layout?: 'workspace' | 'messenger' | undefined
  density?: 'comfortable' | 'compact' | undefined
  /** Defaults to what the system prefers. */
  theme?: 'light' | 'dark' | undefined
  /** Your own components in place of those of the kit. */
  parts?: Partial<Parts> | undefined
  /** Whether users can ask for a person in conversations with agents. Set it if somebody looks into the console's inbox. */
  handovers?: boolean | undefined
  className?: string | undefined
}

const NONE: Partial<Parts> = {}

/** Connects the client while it is mounted, and gives the components below it their client, texts and theme. */
export function ChatProvider({
  client,
  children,
  strings = en,
  layout = 'workspace',
  density = 'comfortable',
  theme,
  parts = NONE,
  handovers = false,
  className = '',
}: ChatProviderProps) {
  useEffect(() => {
    client.start()
    return () => client.stop()
  }, [client])
  const chat = useMemo(
    () => ({ client, strings, parts, handovers }),
    [client, strings, parts, handovers],
  )
  return (
    <ChatContext value={chat}>
      <div
        className={`lq ${className}`}
        lang={strings.locale}
        dir={strings.dir}
        data-layout={layout}
        data-density={density}
        data-theme={theme}
      >
        {children}
      </div>
    </ChatContext>
  )
}

/** The client, texts and replaced parts of the provider. */
export function useChat(): Chat {
  const chat = useContext(ChatContext)
  if (!chat) throw new Error('Put this component into a <ChatProvider>.')
  return chat
}

export const useClient = (): LoquatClient => useChat().client
export const useStrings = (): Strings => useChat().strings
