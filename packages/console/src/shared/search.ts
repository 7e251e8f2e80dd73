/** Filters of a list, kept in the address: a view can be shared. */
import { listOf } from './lists.ts'

/** One filter: what the operation calls it, what people call it, and what it takes. */
export type Filter = { label: string; hint?: string } & (
  | { kind: 'text' | 'list' | 'flag' | 'number' | 'time' }
  | { kind: 'choice'; options: Record<string, string> }
)
export type Filters = Record<string, Filter>

/** What stands in the address: texts by name. */
export type Search = Record<string, string | undefined>

/** For `validateSearch` of a route: takes the named texts out of an address that anybody may have written. */
export const textsOf =
  <K extends string>(...names: K[]) =>
  (given: Record<string, unknown>): { [N in K]?: string } =>
    Object.fromEntries(
      names
        .map((name) => [name, given[name]] as const)
        .filter(
          ([, value]) => ['string', 'number', 'boolean'].includes(typeof value) && value !== '',
        )
        .map(([name, value]) => [name, String(value)]),
    ) as { [N in K]?: string }

/** The names of filters, for `textsOf`. */
export const namesOf = <K extends string>(filters: Record<K, Filter>) => Object.keys(filters) as K[]

/** The filters as the operation takes them. */
export function queryOf(filters: Filters, search: Search): Record<string, unknown> {
  const query: Record<string, unknown> = {}
  for (const [name, filter] of Object.entries(filters)) {
    const text = search[name]
    if (text) query[name] = asked(filter, text)
  }
  return query
}

function asked({ kind }: Filter, text: string): unknown {
  if (kind === 'list') return listOf(text)
  if (kind === 'flag') return true
  if (kind === 'number') return Number(text)
  if (kind === 'time') return Math.floor(Date.parse(text) / 1000)
  return text
}
