'use client'
/** Calls with audio and video. An entry of its own, because chats without calls don't need its code. */
export { Call } from './call.tsx'
export { CallButtons } from './call-buttons.tsx'
export { CallsProvider, type CallsProviderProps, useCalls } from './calls-provider.tsx'
export { IncomingCalls } from './incoming-calls.tsx'
