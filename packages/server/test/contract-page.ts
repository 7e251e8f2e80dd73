/** docs/contract.md, from the contract ledger. */
import { impossibleErrors } from '@loquat/protocol'
import {
  type Area,
  type ContractOperation,
  type Field,
  isLink,
  type Ledger,
  type State,
} from './ledger.ts'

/** One fact of the contract. */
interface Entry {
  kind: 'operations' | 'fields' | 'errors' | 'events' | 'rules'
  name: string
  state: State
}

const HEADINGS: Record<Entry['kind'], string> = {
  operations: 'operations',
  fields: 'parameters and fields',
  errors: 'errors',
  events: 'triggers and events',
  rules: 'rules and settings',
}
const KINDS = Object.keys(HEADINGS) as Entry['kind'][]

export function contractPage(note: string, ledger: Ledger): string {
  const entries = new Map(ledger.areas.map((area) => [area.title, entriesOf(area)]))
  return [
    '# Contract',
    note,
    'This service follows the public contract of such a service, so that code written for it moves over unchanged. This page lists everything in that contract: what is **built**, and where this service **deviates** and why. A test compares it with the OpenAPI documents, the error catalogue and the tables of events.',
    '## Summary',
    'Numbers of facts: built, and after the slash those that deviate, if there are any.',
    summary(entries),
    '## Deviations',
    ...[...entries].map(([title, own]) => deviations(title, own)),
    '## Additions',
    'What this service offers in addition to the contract.',
    additions(ledger),
    ...ledger.areas.flatMap(areaPart),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
    .concat('\n')
}

function entriesOf(area: Area): Entry[] {
  const fields = (where: string, list: Field[]): Entry[] =>
    list
      .filter((field) => !isLink(field))
      .map(({ path, state }) => ({ kind: 'fields', name: `${where} ${path}`, state }))
  return [
    ...area.operations.flatMap((operation): Entry[] => [
      { kind: 'operations', name: operation.name, state: operation.state },
      // If the operation deviates as a whole, its parts say nothing more.
      ...partsOf(operation, fields).filter(
        ({ state }) => state.state !== 'deviates' || operation.state.state !== 'deviates',
      ),
    ]),
    ...[...area.records].flatMap(([name, list]) => fields(name, list)),
    ...area.errors.map(
      ({ code, never, state }): Entry => ({
        kind: 'errors',
        name: code,
        state: never
          ? { state: 'deviates', why: `Never returned. ${impossibleErrors[code]}` }
          : state,
      }),
    ),
    ...area.triggers.flatMap(({ name, data, state }): Entry[] => [
      { kind: 'events', name, state },
      ...fields(name, data),
    ]),
    ...area.events.map(({ name, state }): Entry => ({ kind: 'events', name, state })),
    ...area.settings.map(({ name, state }): Entry => ({ kind: 'rules', name, state })),
    ...area.rules.map(({ text, state }): Entry => ({ kind: 'rules', name: text, state })),
  ]
}

function partsOf(operation: ContractOperation, fields: (where: string, list: Field[]) => Entry[]) {
  const { name, parameters, body, answer, meta, errors } = operation
  return [
    ...fields(name, [...parameters, ...body, ...(answer?.fields ?? [])]),
    ...meta.map(
      ({ name: place, state }): Entry => ({
        ...{ kind: 'fields', name: `${name} meta.${place}`, state },
      }),
    ),
    ...errors
      .filter(({ state }) => state.state === 'deviates')
      .map(({ code, state }): Entry => ({ kind: 'errors', name: `${name} ${code}`, state })),
  ]
}

const count = (entries: Entry[], state: State['state']) =>
  entries.filter((entry) => entry.state.state === state).length

function summary(entries: Map<string, Entry[]>): string {
  const cell = (list: Entry[]) => {
    const [built, deviates] = (['built', 'deviates'] as const).map((state) => count(list, state))
    if (!list.length) return ''
    return deviates ? `${built} / ${deviates}` : `${built}`
  }
  const row = (title: string, list: Entry[]) => [
    title,
    ...KINDS.map((kind) => cell(list.filter((entry) => entry.kind === kind))),
  ]
  return table(
    ['area', ...Object.values(HEADINGS)],
    [
      ...[...entries].map(([title, list]) => row(`[${title}](#${anchor(title)})`, list)),
      row('**all**', [...entries.values()].flat()),
    ],
  )
}

const anchor = (title: string) => title.toLowerCase().replaceAll(' ', '-')

function deviations(title: string, entries: Entry[]): string {
  const reasons = Map.groupBy(
    entries.filter(({ state }) => state.state === 'deviates'),
    ({ state }) => (state.state === 'deviates' ? state.why : ''),
  )
  if (!reasons.size) return ''
  const lines = [...reasons].map(([why, list]) => {
    const rules = list.filter(({ kind, name }) => kind === 'rules' && name.includes(' '))
    const names = list.filter((entry) => !rules.includes(entry)).map(({ name }) => `\`${name}\``)
    return `- ${[...names, ...rules.map(({ name }) => `"${name}"`)].join(', ')}: ${why}`
  })
  return [`**${title}**`, lines.join('\n')].join('\n\n')
}

/** Grouped by reason. */
function additions({ additions: own }: Ledger): string {
  const nested = (groups: Record<string, Record<string, string>>) =>
    Object.entries(groups).flatMap(([where, names]) =>
      Object.entries(names).map(([name, why]): [string, string] => [`${where} ${name}`, why]),
    )
  const all = [
    ...[own.operations, own.errors, own.events, own.settings].flatMap(Object.entries),
    ...[own.parameters, own.body, own.fields].flatMap(nested),
  ]
  const reasons = Map.groupBy(all, ([, why]) => why)
  return table(
    ['addition', 'why'],
    [...reasons].map(([why, list]) => [list.map(([name]) => `\`${name}\``).join(', '), why]),
  )
}

function areaPart(area: Area): string[] {
  const { title, records, operations, errors, triggers, events, settings, rules } = area
  return [
    `## ${title}`,
    operations.length
      ? table(
          ['operation', 'state', 'parameters', 'body', 'answer', 'errors'],
          operations.map(operationRow),
        )
      : '',
    records.size
      ? table(
          ['record', 'fields'],
          [...records].map(([name, list]) => [name, fieldNames(list)]),
        )
      : '',
    errors.length
      ? table(
          ['error', 'status', 'state', 'when'],
          errors.map(({ code, status, state, never, when = '' }) => [
            ...[`\`${code}\``, `${status}`, never ? 'never returned' : state.state, when],
          ]),
        )
      : '',
    triggers.length
      ? table(
          ['trigger', 'state', 'data'],
          triggers.map(({ name, state, data }) => [
            ...[`\`${name}\``, state.state, fieldNames(data, state)],
          ]),
        )
      : '',
    events.length
      ? table(
          ['callback', 'state', 'event or frame'],
          events.map(({ name, state, as }) => [`\`${name}\``, state.state, `\`${as}\``]),
        )
      : '',
    settings.length
      ? table(
          ['setting', 'state', 'default'],
          settings.map(({ name, state, default: initial }) => [
            ...[`\`${name}\``, state.state, initial === undefined ? '' : `\`${initial}\``],
          ]),
        )
      : '',
    rules.map(({ text, state }) => `- ${text}${ruleEnd(state)}`).join('\n'),
  ]
}

const ruleEnd = (state: State) => (state.state === 'deviates' ? ` *Deviates: ${state.why}*` : '')

function operationRow({ name, state, deprecated, onBehalfOf, ...rest }: ContractOperation) {
  const { parameters, body, answer, meta, errors } = rest
  const acting = { required: '`onBehalfOf*`', optional: '`onBehalfOf`', ignored: '' }[onBehalfOf]
  const records = [answer?.record, answer?.or].filter((record) => record !== undefined)
  const kind = { one: '', list: 'list of ', each: 'each: ' }[answer?.kind ?? 'one']
  const own = fieldNames(answer?.fields ?? [], state)
  return [
    `\`${name}\``,
    `${state.state}${deprecated ? ', deprecated' : ''}`,
    [acting, fieldNames(parameters, state)].filter((part) => part).join(', '),
    fieldNames(body, state),
    [
      records.length ? `${kind}${records.join(' or ')}` : '',
      own,
      meta.map(({ name: place }) => `\`meta.${place}\``).join(', '),
    ]
      .filter((part) => part)
      .join('; '),
    errors.map(({ code }) => `\`${code}\``).join(', '),
  ]
}

/** With a star if required, and with the state if it isn't that of the whole. */
function fieldNames(fields: Field[], outer: State = { state: 'built' }): string {
  return fields
    .filter((field) => !isLink(field) || field.path === 'extends')
    .map(({ path, is, required, state }) => {
      if (path === 'extends') return `all of ${is}`
      const mark = state.state === outer.state ? '' : ` (${state.state})`
      return `\`${path}${required ? '*' : ''}\`${mark}`
    })
    .join(', ')
}

function table(heads: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n')
}
