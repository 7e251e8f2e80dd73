import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { changeSchema, runFile } from './ddl.ts'
import type { Schema } from './query.ts'

/** The roles of the service and of auditors. `loquat migrate` grants rights to those that exist. */
export const SERVICE_ROLE = 'loquat_service'
export const AUDIT_ROLE = 'loquat_audit'

/** Grants the roles what they need of the tables, and revokes everything else. */
export async function grantTables(client: pg.Client, root: string, schema: Schema): Promise<void> {
  const file = `db/${schema}/grants.gen.sql`
  const sql = readFileSync(join(root, file), 'utf8')
  await changeSchema(client, () => runFile(client, file, sql))
}

/** By default everyone may call a function. Those that run with the rights of the owner are for the service alone. */
export async function grantFunctions(client: pg.Client): Promise<void> {
  await client.query(`do $$
    declare
      v_function regprocedure;
    begin
      for v_function in
        select oid from pg_proc where pronamespace = 'public'::regnamespace and prosecdef
      loop
        execute format('revoke all on function %s from public', v_function);
        if to_regrole('${SERVICE_ROLE}') is not null then
          execute format('grant execute on function %s to ${SERVICE_ROLE}', v_function);
        end if;
      end loop;
    end $$`)
}

/** The same address with the role that owns the tables, given as `name:password`. Without one, the address as it is. */
export function ownerUrl(url: string, owner: string): string {
  if (!owner) return url
  const address = new URL(url)
  const [name = '', ...password] = owner.split(':')
  address.username = encodeURIComponent(name)
  address.password = encodeURIComponent(password.join(':'))
  return address.href
}
