import { AUDIT_ROLE, SERVICE_ROLE } from '../../platform/db/grants.ts'
import type { Schema } from '../../platform/db/query.ts'
import { cellTables, cellViews } from './cell.ts'
import { directoryTables } from './directory.ts'
import { auditColumnsOf, type Table } from './table.ts'

const NOTE = `-- Made by \`npm run generate\` from src/core/tables/. \`loquat migrate\` applies it after the migrations, as the
-- role that owns the tables. Roles that don't exist get nothing: then the service runs as the owner.
-- docs/decisions/0035-database-roles.md explains it.`

const tablesOf = (schema: Schema): [string, Table][] =>
  Object.entries(schema === 'cell' ? cellTables : directoryTables)
const viewsOf = (schema: Schema): readonly string[] => (schema === 'cell' ? cellViews : [])

/** The content of `db/<schema>/grants.gen.sql`. */
export function grantsSql(schema: Schema): string {
  const names = [...tablesOf(schema).map(([name]) => name), ...viewsOf(schema)]
  const revoke = (role: string) => `revoke all on ${names.join(', ')} from ${role};`
  return [
    NOTE,
    block(SERVICE_ROLE, [
      `grant usage on schema public to ${SERVICE_ROLE};`,
      `grant usage, select, update on all sequences in schema public to ${SERVICE_ROLE};`,
      revoke(SERVICE_ROLE),
      ...tablesOf(schema).map(
        ([name, { service }]) => `grant ${service} on ${name} to ${SERVICE_ROLE};`,
      ),
      ...viewsOf(schema).map((name) => `grant select on ${name} to ${SERVICE_ROLE};`),
    ]),
    block(AUDIT_ROLE, [
      `grant usage on schema public to ${AUDIT_ROLE};`,
      revoke(AUDIT_ROLE),
      ...tablesOf(schema).flatMap(([name, table]) => {
        const columns = auditColumnsOf(table)
        return columns.length > 0
          ? [`grant select (${columns.join(', ')}) on ${name} to ${AUDIT_ROLE};`]
          : []
      }),
    ]),
  ]
    .join('\n\n')
    .concat('\n')
}

const block = (role: string, statements: string[]) => `do $$
begin
  if to_regrole('${role}') is null or current_user = '${role}' then return; end if;
${statements.map((statement) => `  ${statement}`).join('\n')}
end $$;`
