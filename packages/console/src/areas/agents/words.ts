import type { AgentReplay, AgentRun, AgentStep, ReplayDifference } from '@loquat/sdk'
import type { Tone } from '../../shared/status.tsx'

export const RUN_STATES: Record<AgentRun['state'], { label: string; tone: Tone }> = {
  queued: { label: 'Queued', tone: 'plain' },
  running: { label: 'Running', tone: 'info' },
  waiting: { label: 'Waiting', tone: 'warn' },
  finished: { label: 'Finished', tone: 'good' },
  failed: { label: 'Failed', tone: 'bad' },
  cancelled: { label: 'Cancelled', tone: 'plain' },
}

export const REPLAY_STATES: Record<AgentReplay['state'], { label: string; tone: Tone }> = {
  queued: { label: 'Queued', tone: 'plain' },
  running: { label: 'Running', tone: 'info' },
  finished: { label: 'Finished', tone: 'good' },
  stopped: { label: 'Stopped', tone: 'warn' },
  failed: { label: 'Failed', tone: 'bad' },
}

export const MODES: Record<AgentReplay['mode'], string> = {
  recorded: 'From the record',
  live: 'Ask the model again',
}

/** How a step of a replay differs from the run. */
export const CHANGES: Record<
  ReplayDifference['steps'][number]['change'],
  { label: string; tone: Tone }
> = {
  same: { label: 'Same', tone: 'plain' },
  changed: { label: 'Changed', tone: 'warn' },
  missing: { label: 'Missing', tone: 'bad' },
  added: { label: 'Added', tone: 'info' },
}

/** Why a run or a replay ended, and what to do about it. */
const REASONS: Record<string, string> = {
  answered: 'The agent answered.',
  cut_short: 'The answer reached its longest length. Raise the limit of the model to allow more.',
  handed_over: 'The conversation was handed to a person.',
  held: 'Moderation holds the answer until someone decides about it.',
  cancelled_by_user: 'The user cancelled it.',
  cancelled_by_app: 'The app cancelled it.',
  question_deleted: 'The question was deleted.',
  agent_inactive: 'The agent is paused.',
  not_configured: 'The agent has no model. Choose a provider and a model on its page.',
  timed_out: 'It took too long.',
  interrupted: 'The worker stopped again and again.',
  empty_answer: 'The model answered nothing.',
  disapproved: 'Rules of moderation disapproved the answer.',
  not_deliverable: "The answer couldn't be sent. For example, the user has blocked the agent.",
  outcome_unknown: 'Nobody knows whether a call of a tool or an external agent took place.',
  repeated_call: 'The model wanted to call a tool with the same arguments again and again.',
  too_many_steps: 'It needed too many steps.',
  unanswered: 'It waited too long for a person.',
  too_many_runs: 'Too many other questions of the user waited for an answer.',
  filtered: "The provider's filter stopped the answer.",
  budget_run: 'The budget of one run is used up.',
  budget_user: "The user's budget of the day is used up.",
  budget_app: "The app's budget of the month is used up.",
  budget_unpriced: 'There is a limit of money, but the provider has no prices.',
  provider_limited: 'The provider refuses more calls for now.',
  provider_unavailable: "The provider couldn't be reached.",
  provider_refused: 'The provider refused the call. Check its key and the name of the model.',
  provider_invalid: 'The provider sent something that is no answer.',
  provider_silent: 'The provider stopped sending.',
  provider_forbidden: "The provider's address isn't allowed.",
  agent_failed: 'The external agent reported an error.',
  not_recorded: 'The model made a call that the run did not make.',
  record_ends: 'The record ends here.',
}

/** `some_name` as words, for names that the console doesn't know. */
const words = (name: string) => name.charAt(0).toUpperCase() + name.slice(1).replaceAll('_', ' ')

export const reasonText = (reason: string) => REASONS[reason] ?? words(reason)

/** Short enough for a row. */
export const shortReason = (reason: string) => reasonText(reason).split('. ')[0]?.replace(/\.$/, '')

const FIELDS: Record<string, string> = {
  apiTools: 'API tools',
  mcpServers: 'MCP servers',
  serviceTools: 'Tools of the service',
  frontendActions: 'Frontend actions',
  instruction: 'Instructions',
  metaData: 'Metadata',
  modelMetaData: 'Settings of the model',
  providerId: 'Provider',
  answersMentions: 'Answers mentions',
  answersAgents: 'Answers agents',
  handBackAfterSeconds: 'Hand back to the agent after (seconds)',
  integrationMeta: 'Connection',
  integrateWith: 'Made with',
}

/** A field of an agent, as its page names it. */
export const fieldName = (field: string) => FIELDS[field] ?? words(field)

const STEP_STATES: Record<string, Tone> = {
  running: 'info',
  done: 'good',
  failed: 'bad',
  cut: 'warn',
  waiting: 'warn',
}

export const stepTone = ({ state }: AgentStep): Tone => STEP_STATES[state] ?? 'plain'

export const stepTitle = ({ kind, attempt, tool }: AgentStep) =>
  [words(kind), tool, attempt > 1 ? `attempt ${attempt}` : ''].filter(Boolean).join(', ')

const tokens = new Intl.NumberFormat('en')
const money = new Intl.NumberFormat('en', { maximumSignificantDigits: 4 })

export const tokensText = (count: number) => tokens.format(count)
/** In the currency of the providers' prices, which the console doesn't know. */
export const moneyText = (amount: number) => money.format(amount)
