import { Type } from 'typebox'
import { defineJob } from '../../deps.ts'
import { resumeErasures } from './actions.ts'

export const resumeErasuresJob = defineJob({
  name: 'erasures.resume',
  summary: 'Starts erasures whose job was lost, because a process died between two databases.',
  input: Type.Object({}),
  schedule: { everySeconds: 600 },
  tries: 1,
  run: ({ context: { deps, cell } }) => resumeErasures(deps, cell),
})
