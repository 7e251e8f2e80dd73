import { Type } from 'typebox'
import { sweepAll } from '../../core/sweep.ts'
import { defineJob } from '../../deps.ts'
import { sweepGroup } from './queries.ts'

export const sweepGroupJob = defineJob({
  name: 'groups.sweep',
  summary: 'Deletes what a removed group leaves behind.',
  input: Type.Object({ guid: Type.String() }),
  run: (run) =>
    sweepAll(run, (limit) =>
      run.context.cell.db.call((tx) =>
        sweepGroup.one(tx, { appNo: run.appNo, guid: run.input.guid, limit }),
      ),
    ),
})
