import { restrain } from './app-restrain.ts'
import type { Command } from './command.ts'

export const appsResume: Command = {
  name: 'apps resume',
  summary: 'Serve an app again, with its full limits.',
  args: '<app>',
  details: 'Ends both loquat apps suspend and loquat apps throttle.',
  examples: ['loquat apps resume 9f01c2aa77d41b30'],
  run: (context, _flags, [app = '']) =>
    restrain(context, 'resumeApp', app, { suspended: false, throttle: null }),
}
