import { UserError } from '../platform/errors.ts'
import { restrain } from './app-restrain.ts'
import type { Command } from './command.ts'

export const appsThrottle: Command = {
  name: 'apps throttle',
  summary: "Lower an app's rates and its requests at a time.",
  args: '<app> <percent>',
  details:
    'The app keeps this percentage of its rate limits and of its limits readsAtOnce and writesAtOnce, within a second. To undo it, use loquat apps resume.',
  examples: ['loquat apps throttle 9f01c2aa77d41b30 10'],
  async run(context, _flags, [app = '', percent = '']) {
    if (!/^[1-9]\d?$/.test(percent)) throw new UserError('The percentage must be from 1 to 99.')
    await restrain(context, 'throttleApp', app, { throttle: Number(percent) })
  },
}
