/** List filters, kept in the URL so that a filtered list can be shared. */
import { listOf } from './lists.ts'

/** How to show and parse one filter. The filter's name is the operation's parameter. */
export type Filter = { label: string; hint?: string } & (
  | { kind: 'text' | 'list' | 'flag' | 'number' | 'time' }
  | { kind: 'choice'; options: Record<string, string> }
)
export type Filters = Record<string, Filter>

/** The search parameters of the URL. */
export type Search = Record<string, string | undefined>

/** For `validateSearch` of a route: picks the named parameters from an untrusted URL. */
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

/** The filters' names, for `textsOf`. */
export const namesOf = <K extends string>(filters: Record<K, Filter>) => Object.keys(filters) as K[]

/** The filters as query parameters of the operation. */
export function queryOf(filters: Filters, search: Search): Record<string, unknown> {
  const query: Record<string, unknown> = {}
  for (const [name, filter] of Object.entries(filters)) {
    const text = search[name]
    if (text) query[name] = parse(filter, text)
  }
  return query
}

function parse({ kind }: Filter, text: string): unknown {
  if (kind === 'list') return listOf(text)
  if (kind === 'flag') return true
  if (kind === 'number') return Number(text)
  if (kind === 'time') return Math.floor(Date.parse(text) / 1000)
  return text
}
