import { type Logger, pino } from 'pino'

export type { Logger }

/** One JSON line an entry, to standard error: standard output belongs to the commands. */
export function openLog(level: string): Logger {
  const serializers = { err: toEntry }
  return pino({ level, base: null, serializers }, pino.destination({ dest: 2, sync: false }))
}

/** Of an error nothing else: clients hang whole commands on theirs, with passwords. */
function toEntry(error: Error & { code?: unknown }) {
  const { name, message, code, stack, cause } = error
  const reason = cause instanceof Error ? cause.message : undefined
  return { name, message, code, stack, cause: reason }
}
