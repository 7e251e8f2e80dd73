import { Type } from 'typebox'
import { sweepAll } from '../../core/sweep.ts'
import { defineJob } from '../../deps.ts'
import { sweepUser } from './queries.ts'

export const sweepUserJob = defineJob({
  name: 'users.sweep',
  summary: 'Deletes what a removed user leaves behind.',
  input: Type.Object({ uid: Type.String() }),
  run: (run) =>
    sweepAll(run, (limit) =>
      run.context.cell.db.call((tx) =>
        sweepUser.one(tx, { appNo: run.appNo, uid: run.input.uid, limit }),
      ),
    ),
})
