/** WAL without full-page images, whose number depends on when the last checkpoint was. */
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'

/** Runs `work` without full-page images and without autovacuum, which also writes WAL. For private engines only. */
export async function withPlainWal<T>(client: pg.Client, work: () => Promise<T>): Promise<T> {
  const settings = ['full_page_writes', 'autovacuum']
  const apply = async (change: (name: string) => string) => {
    for (const name of settings) await client.query(change(name))
    await client.query('select pg_reload_conf()')
    // The checkpointer reads the settings before it starts a checkpoint, and applies them for all sessions.
    await client.query('checkpoint')
  }
  const vacuums = `select from pg_stat_activity where backend_type = 'autovacuum worker'`
  await apply((name) => `alter system set ${name} = off`)
  try {
    while ((await client.query(vacuums)).rowCount !== 0) await sleep(100)
    return await work()
  } finally {
    await apply((name) => `alter system reset ${name}`)
  }
}

/** How many bytes of WAL the server has written so far. */
export async function walPosition(client: pg.Client): Promise<number> {
  const text = `select pg_current_wal_insert_lsn() - '0/0' as position`
  const { rows } = await client.query<{ position: string }>(text)
  return Number(rows[0]?.position)
}
