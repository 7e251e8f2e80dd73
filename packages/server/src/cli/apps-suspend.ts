import { restrain } from './app-restrain.ts'
import type { Command } from './command.ts'

export const appsSuspend: Command = {
  name: 'apps suspend',
  summary: 'Stop serving an app, and keep its data.',
  args: '<app>',
  details:
    'Within a second, all its requests fail with ERR_APP_SUSPENDED, its devices are disconnected, and its webhooks and background jobs stop. Everything continues after loquat apps resume.',
  examples: ['loquat apps suspend 9f01c2aa77d41b30'],
  run: (context, _flags, [app = '']) => restrain(context, 'suspendApp', app, { suspended: true }),
}
