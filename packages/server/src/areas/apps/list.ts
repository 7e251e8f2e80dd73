import type { Deps } from '../../deps.ts'
import type { PageKey } from '../../platform/lists/keyset.ts'
import { keysetPage } from '../../platform/lists/page.ts'
import type { PageStarts } from '../../platform/lists/page-starts.ts'
import {
  countManagedApps,
  findManagedAppStart,
  listManagedApps,
  type ManagedAppRow,
} from './manage.queries.ts'
import type { AppListQuery } from './schema.ts'

/** A page of an operator's apps, newest first. */
export function managedAppsPage(
  { directory: { db }, secrets }: Pick<Deps, 'directory' | 'secrets'>,
  starts: PageStarts,
  operatorNo: number,
  { searchKey: given, ...page }: AppListQuery,
) {
  const searchKey = given ?? null
  const own = { operatorNo, searchKey }
  const list = {
    name: ['apps', operatorNo],
    filters: searchKey,
    async read(after: PageKey | undefined, limit: number) {
      const before = Number(after?.[0] ?? 2 ** 31 - 1)
      return { rows: await listManagedApps.many(db, { ...own, before, limit }) }
    },
    keyOf: ({ app_no }: ManagedAppRow): PageKey => [app_no],
    async startOf(count: number): Promise<PageKey | undefined> {
      const row = await findManagedAppStart.maybeOne(db, { ...own, skip: count - 1 })
      return row && [row.app_no]
    },
    async count() {
      const { total } = await countManagedApps.one(db, own)
      return { total, capped: false }
    },
  }
  return keysetPage({ secrets, starts }, list, page)
}
