import { Type } from 'typebox'
import { sweepAll } from '../../core/sweep.ts'
import { defineJob } from '../../deps.ts'
import { sweepWebhook } from './queries.ts'

export const sweepWebhookJob = defineJob({
  name: 'webhooks.sweep',
  summary: 'Deletes what a removed webhook leaves behind.',
  input: Type.Object({ no: Type.Integer() }),
  run: (run) =>
    sweepAll(run, (limit) =>
      run.context.cell.db.call((tx) =>
        sweepWebhook.one(tx, { appNo: run.appNo, no: run.input.no, limit }),
      ),
    ),
})
