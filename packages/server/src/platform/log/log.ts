import { type Logger, pino } from 'pino'

export type { Logger }

/** Writes each entry as a line of JSON to standard error, because commands use standard output. */
export function openLog(level: string): Logger {
  const serializers = { err: toEntry }
  return pino({ level, base: null, serializers }, pino.destination({ dest: 2, sync: false }))
}

/** Logs only these fields of an error. Clients attach whole commands to their errors, including passwords. */
function toEntry(error: Error & { code?: unknown }) {
  const { name, message, code, stack, cause } = error
  const reason = cause instanceof Error ? cause.message : undefined
  return { name, message, code, stack, cause: reason }
}
