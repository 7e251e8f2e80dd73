import type { AgentHandover } from '@loquat/sdk'
import type { Tone } from '../../shared/status.tsx'

/** The name of the app's API keys as a person who answers. */
const APP = 'app'

export const personOf = (takenBy: string) => (takenBy === APP ? 'An API key' : takenBy)

/** Whether anybody answers, in words. */
export function stateOf(handover: AgentHandover): { label: string; tone: Tone } {
  const { state, takenBy = APP, closedBy } = handover
  if (state === 'open') return { label: 'Waiting', tone: 'warn' }
  if (closedBy === 'timeout') return { label: 'Nobody answered in time', tone: 'warn' }
  if (state === 'closed') return { label: 'The agent answers again', tone: 'plain' }
  return { label: `${personOf(takenBy)} answers`, tone: 'info' }
}

export const OPENERS: Record<AgentHandover['openedBy'], string> = {
  agent: 'The agent handed the conversation over.',
  user: 'The user asked for a person.',
  operator: 'An operator handed the conversation over.',
  app: 'The app handed the conversation over.',
}
