import { Type } from 'typebox'
import { sweepAll } from '../../core/sweep.ts'
import { defineJob } from '../../deps.ts'
import { sweepRole } from './queries.ts'

export const sweepRoleJob = defineJob({
  name: 'roles.sweep',
  summary: 'Moves the users of a removed role to the default role.',
  input: Type.Object({ role: Type.String() }),
  run: (run) =>
    sweepAll(run, (limit) =>
      run.context.cell.db.call((tx) =>
        sweepRole.one(tx, { appNo: run.appNo, role: run.input.role, limit }),
      ),
    ),
})
