import { randomBytes } from 'node:crypto'
import { addOperator } from '../areas/operators/actions.ts'
import type { Deps } from '../deps.ts'
import { recordAudit } from '../gate/audit.ts'
import { UserError } from '../platform/errors.ts'
import { ApiError } from '../platform/http/fail.ts'
import { hashPassword } from '../platform/secrets/passwords.ts'
import type { Command } from './command.ts'
import { withDeps } from './deps.ts'

export const operatorsCreate: Command = {
  name: 'operators create',
  summary: 'Create an operator: a person who can sign in to manage apps.',
  flags: [
    { flag: '--email <email>', description: 'the email address to sign in with', required: true },
    { flag: '--name <name>', description: 'the name that others see', required: true },
    { flag: '--json', description: 'print one JSON object' },
  ],
  details: 'Generates a password and prints it once. The operator can change it after signing in.',
  examples: ['loquat operators create --email rui@example.org --name Rui'],
  async run(context, flags) {
    const email = String(flags.email).trim().toLowerCase()
    const name = String(flags.name).trim()
    if (!/^[^\s@]+@[^\s@]+$/.test(email)) throw new UserError('--email must be an email address.')
    if (name.length === 0 || name.length > 100)
      throw new UserError('--name must have 1 to 100 characters.')
    const password = newPassword()
    await withDeps(context, (deps) => createOperator(deps, { email, name, password }))
    if (flags.json) return context.print(JSON.stringify({ email, password }))
    context.print(`Operator  ${email}\nPassword  ${password}`)
  },
}

/** A password to print once: 120 random bits. */
export const newPassword = () => randomBytes(15).toString('base64url')

/** Creates an account without an invitation. That is safe, because running the command requires access to the database. */
export async function createOperator(
  { directory }: Pick<Deps, 'directory'>,
  { email, name, password }: { email: string; name: string; password: string },
): Promise<number> {
  const passwordHash = await hashPassword(password)
  try {
    return await directory.db.tx(async (tx) => {
      const row = await addOperator(tx, { email, name, passwordHash })
      await recordAudit(tx, 'command', { action: 'createOperator', after: { email, name } })
      return row.operator_no
    })
  } catch (error) {
    throw error instanceof ApiError ? new UserError(error.message) : error
  }
}
