import { type Logger, pino } from 'pino'
import { LineBuffer } from './line-buffer.ts'

export type { Logger }

/**
 * Writes each entry as a line of JSON to standard error, because commands use standard output. Lines below `error` may
 * wait up to 200 ms. Only a process that is killed loses them.
 */
export function openLog(level: string): Logger {
  const serializers = { err: toEntry }
  const output = pino.destination({ dest: 2, sync: true })
  return pino({ level, base: null, serializers }, new LineBuffer((text) => output.write(text)))
}

/** Logs only these fields of an error. Clients attach whole commands to their errors, including passwords. */
function toEntry(error: Error & { code?: unknown }) {
  const { name, message, code, stack, cause } = error
  const reason = cause instanceof Error ? cause.message : undefined
  return { name, message, code, stack, cause: reason }
}
