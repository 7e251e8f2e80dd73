/** An app in which every permission has an explicit value that allows the sends, and another role has stricter ones. */
import {
  type Permission,
  rolePermissions,
  scopePermissions,
} from '../src/core/access/definitions.ts'
import type { StoredPermissions } from '../src/core/access/rules.ts'
import { findActiveUser } from '../src/gate/queries.ts'
import type { SendData } from './send-data.ts'
import { type Statement, sendStatements } from './send-statements.ts'

function allowing({ dataType, availableValues = [] }: Permission): string | string[] {
  if (dataType === 'string') return availableValues[0] ?? 'allow'
  if (dataType === 'rolesStringArray') return ['default', 'strict']
  return availableValues.length > 0 ? [...availableValues] : ['*']
}

const stored = (table: Record<string, Permission>): StoredPermissions =>
  Object.fromEntries(
    Object.entries(table).map(([name, permission]) => [
      name,
      { value: allowing(permission), createdAt: 1, updatedAt: 1 },
    ]),
  )

export async function setRules({ app, client }: SendData): Promise<void> {
  const ofRole = JSON.stringify(stored(rolePermissions))
  await client.query(
    `insert into roles (app_no, role, name, permissions) values ($1, 'default', 'Default', $2)
     on conflict (app_no, role) do update set permissions = excluded.permissions`,
    [app.no, ofRole],
  )
  await client.query(
    `insert into roles (app_no, role, name, settings, permissions)
     values ($1, 'strict', 'Strict', '{"sendMessagesTo": "friendsOnly"}', $2)`,
    [app.no, ofRole],
  )
  const ofScope = stored(scopePermissions)
  const scopes = JSON.stringify({ admin: ofScope, moderator: ofScope, participant: ofScope })
  await client.query('update groups set permissions = $2 where app_no = $1', [app.no, scopes])
  await client.query('vacuum (analyze)')
}

/** The same sends, and what a request costs beside them: the role of its user is read. */
export async function ruledStatements(
  data: SendData,
  members: number,
): Promise<Record<string, Statement>> {
  const sends = Object.entries(await sendStatements(data, members))
    .filter(([name]) => name.includes('message'))
    .map(([name, statement]) => [`${name} with all permissions`, statement])
  const { pairs, app } = data
  const role: Statement = {
    types: 'int, text',
    // In single-user mode, a line is a statement.
    text: findActiveUser.text.replace(/\s+/g, ' '),
    args: (nth) => `${app.no}, '${pairs[nth % pairs.length]?.sender}'`,
    messages: 1,
  }
  return { ...Object.fromEntries(sends), 'reading the role of a user': role }
}
