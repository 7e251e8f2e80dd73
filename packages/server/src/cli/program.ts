import { Option, Command as Program } from 'commander'
import manifest from '../../package.json' with { type: 'json' }
import { appsCreate } from './apps-create.ts'
import { appsList } from './apps-list.ts'
import { appsResume } from './apps-resume.ts'
import { appsSet } from './apps-set.ts'
import { appsSuspend } from './apps-suspend.ts'
import { appsThrottle } from './apps-throttle.ts'
import { cellsAdd } from './cells-add.ts'
import { cellsList } from './cells-list.ts'
import { cellsRestored } from './cells-restored.ts'
import { cellsSet } from './cells-set.ts'
import type { Command, Context } from './command.ts'
import { dev } from './dev.ts'
import { exportCommand } from './export.ts'
import { fill } from './fill.ts'
import { importCommand } from './import.ts'
import { jobsCancel } from './jobs-cancel.ts'
import { jobsList } from './jobs-list.ts'
import { jobsRetry } from './jobs-retry.ts'
import { mediaServersAdd } from './media-servers-add.ts'
import { mediaServersDrain } from './media-servers-drain.ts'
import { mediaServersList } from './media-servers-list.ts'
import { mediaServersRemove } from './media-servers-remove.ts'
import { migrateCommand } from './migrate.ts'
import { operatorsCreate } from './operators-create.ts'
import { operatorsDisable } from './operators-disable.ts'
import { operatorsEnable } from './operators-enable.ts'
import { operatorsList } from './operators-list.ts'
import { operatorsResetPassword } from './operators-reset-password.ts'
import { operatorsResetTotp } from './operators-reset-totp.ts'
import { secretsReseal } from './secrets-reseal.ts'
import { serveCommand } from './serve.ts'
import { verifyCommand } from './verify.ts'

export const commands: Command[] = [
  dev,
  serveCommand,
  migrateCommand,
  cellsAdd,
  cellsList,
  cellsRestored,
  cellsSet,
  mediaServersAdd,
  mediaServersList,
  mediaServersDrain,
  mediaServersRemove,
  appsCreate,
  appsList,
  appsSet,
  appsSuspend,
  appsThrottle,
  appsResume,
  jobsList,
  jobsCancel,
  jobsRetry,
  operatorsCreate,
  operatorsList,
  operatorsDisable,
  operatorsEnable,
  operatorsResetPassword,
  operatorsResetTotp,
  secretsReseal,
  fill,
  importCommand,
  exportCommand,
  verifyCommand,
]

/** Builds the command line parser from the commands. */
export function buildProgram(context: Context): Program {
  const line = (text: string) => text.replace(/\n$/, '')
  // Set this before adding commands, because each command copies these settings.
  const program = new Program('loquat')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => context.print(line(text)),
      writeErr: (text) => context.note(line(text)),
    })
    .description('Loquat, a chat platform: REST API, real-time delivery, console.')
    .version(manifest.version, '-v, --version', 'print the version')
    .showHelpAfterError('Run with --help for usage.')
    .addHelpText('after', '\nFirst time here?  loquat dev\nEnvironment variables: docs/config.md')
  const groups = new Map<string, Program>()
  for (const command of commands) {
    const [first = '', second] = command.name.split(' ')
    const parent = second === undefined ? program : (groups.get(first) ?? addGroup(program, first))
    if (second !== undefined) groups.set(first, parent)
    addCommand(parent, second ?? first, command, context)
  }
  return program
}

function addGroup(program: Program, name: string): Program {
  const words = commands
    .filter((command) => command.name.startsWith(`${name} `))
    .map((command) => command.name.slice(name.length + 1))
  const things = name.replaceAll('-', ' ')
  return program.command(name).description(`Manage ${things}: ${words.join(', ')}.`)
}

function addCommand(parent: Program, word: string, command: Command, context: Context) {
  const { summary, args, flags = [], details, examples } = command
  const program = parent
    .command(args ? `${word} ${args}` : word)
    .summary(summary)
    .description(details ? `${summary}\n\n${details}` : summary)
    .addHelpText('after', `\nExamples:\n${examples.map((example) => `  ${example}`).join('\n')}`)
    .action(async (...given) => {
      const self = given.at(-1) as Program
      await command.run(context, self.opts(), self.args)
    })
  for (const { flag, description, default: initial, required = false, choices } of flags) {
    const option = new Option(flag, description).makeOptionMandatory(required)
    if (initial !== undefined) option.default(initial)
    if (choices) option.choices(choices)
    program.addOption(option)
  }
}
