'use client'
import { Calls, type CallsState } from '@loquat/sdk/calls'
import {
  createContext,
  type ReactNode,
  useContext,
  useEffect,
  useState,
  useSyncExternalStore,
} from 'react'
import { useClient } from './chat.tsx'
import { counterpartOf } from './content.ts'
import { useConversation } from './hooks/conversations.ts'
import { useUser } from './hooks/people.ts'

const CallsContext = createContext<Calls | undefined>(undefined)

export interface CallsProviderProps {
  /** Defaults to calls with WebRTC of the browser. */
  create?: (() => Calls) | undefined
  children: ReactNode
}

/** Listens to calls while it is mounted. Put it into a `ChatProvider`. */
export function CallsProvider({ create, children }: CallsProviderProps) {
  const client = useClient()
  const [calls, setCalls] = useState<Calls>()
  useEffect(() => {
    const opened = create?.() ?? new Calls(client)
    setCalls(opened)
    return () => {
      setCalls(undefined)
      opened.stop()
    }
  }, [client, create])
  return <CallsContext value={calls}>{children}</CallsContext>
}

const NONE: CallsState = { incoming: [] }

/** The calls of this device and their state. `calls` is undefined before the provider is mounted. */
export function useCalls(): CallsState & { calls: Calls | undefined } {
  const calls = useContext(CallsContext)
  const read = () => calls?.state ?? NONE
  const state = useSyncExternalStore(calls?.subscribe ?? noStore, read, read)
  return { ...state, calls }
}

const noStore = () => () => undefined

/** The name of the user or group at the other end. */
export function useNameOf(
  call: { callInitiator: string; callReceiver: string; receiverType: 'user' | 'group' } | undefined,
): { id: string; name: string; kind: 'user' | 'group' } {
  const { uid } = useClient()
  const kind = call?.receiverType ?? 'user'
  const other = call?.callInitiator === uid ? call.callReceiver : call?.callInitiator
  const id = (kind === 'group' ? call?.callReceiver : other) ?? ''
  const conversation = useConversation({ type: kind, id })
  const user = useUser(kind === 'user' && id !== '' ? id : undefined)
  const name = conversation ? counterpartOf(conversation).name : user?.name
  return { id, name: name ?? id, kind }
}
