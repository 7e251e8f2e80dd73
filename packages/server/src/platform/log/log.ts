import { type Logger, pino } from 'pino'

export type { Logger }

/** One JSON line an entry, to standard error: standard output belongs to the commands. */
export function openLog(level: string): Logger {
  return pino({ level, base: null }, pino.destination({ dest: 2, sync: false }))
}
