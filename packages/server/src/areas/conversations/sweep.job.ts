import { Type } from 'typebox'
import { sweepAll } from '../../core/sweep.ts'
import { defineJob } from '../../deps.ts'
import { sweepPurged } from './queries.ts'

export const sweepPurgedJob = defineJob({
  name: 'conversations.sweep',
  summary: 'Deletes the messages of a cleared 1:1 conversation.',
  input: Type.Object({ no: Type.Integer() }),
  run: (run) =>
    sweepAll(run, (limit) =>
      run.context.cell.db.call((tx) =>
        sweepPurged.one(tx, { appNo: run.appNo, no: run.input.no, limit }),
      ),
    ),
})
