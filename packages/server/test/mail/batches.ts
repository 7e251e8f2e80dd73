import type { TestApp } from '../kit.ts'
import { rows } from '../log-writers.ts'

/** Starts the batches of a message, as the notifier does when it reads the log. */
export const startBatches = (app: TestApp, messageId: number | string) =>
  rows(
    app.cell.db,
    'select start_batches(app_no, conversation, id) from messages where app_no = $1 and id = $2',
    [app.no, messageId],
  )
