/** Generates docs/sdk.md, the reference of everything the SDK exports, from its declarations and the OpenAPI documents. */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Method } from './methods.ts'

export interface Sources {
  /** The folder with the declarations of the built SDK. */
  folder: string
  /** The methods of `Loquat` and of `LoquatManagement`. */
  operations: Method[]
  management: Method[]
}

export function referencePage(note: string, { folder, operations, management }: Sources): string {
  return [
    '# SDK reference',
    note,
    `Everything that \`@loquat/sdk\` exports. To get started, read the README of the package.

The types of request bodies, queries and responses are named after their operation, for example \`ListUsersQuery\`. The
REST reference at \`/v3/docs\` of a running server describes their fields. Error codes are in [errors.md](errors.md), events in
[events.md](events.md).`,
    '## `@loquat/sdk`',
    ...exportsOf(folder, 'index.d.ts'),
    '## `@loquat/sdk/client`',
    ...exportsOf(folder, 'client/index.d.ts'),
    '## `@loquat/sdk/agents`',
    ...exportsOf(folder, 'agents/index.d.ts'),
    '## `@loquat/sdk/calls`',
    ...exportsOf(folder, 'calls/index.d.ts'),
    '## App operations',
    'Methods of `Loquat` and of `LoquatClient.api`. The last parameter of each is `options?: CallOptions`. A `Page<T>` is `{ data: T[]; meta: PageMeta }`.',
    ...methodTables(operations),
    '## Management operations',
    'Methods of `LoquatManagement`. The last parameter of each is `options?: CallOptions`.',
    ...methodTables(management),
  ]
    .join('\n\n')
    .concat('\n')
}

/** The named exports of an entry point. `export *` only exports the types of operations. */
function exportsOf(folder: string, entry: string): string[] {
  const text = readFileSync(join(folder, entry), 'utf8')
  const lists = text.matchAll(/^export (?:type )?\{([^}]*)\} from ['"](.+)\.js['"];$/gm)
  return [...lists].flatMap(([, names = '', file = '']) => {
    if (file.endsWith('.gen')) return []
    const declarations = readFileSync(join(folder, dirname(entry), `${file}.d.ts`), 'utf8')
    const plain = names.split(',').map((name) => name.replace(/\btype\b/, '').trim())
    return plain.filter(Boolean).map((name) => section(name, declarations))
  })
}

function section(name: string, declarations: string): string {
  const start = new RegExp(
    `(?:/\\*\\*((?:(?!\\*/)[^])*)\\*/\\n)?export (?:declare )?((?:class|interface|type|const|function) ${name}\\b[^]*)`,
  ).exec(declarations)
  if (!start) throw new Error(`${name} is exported, but the file it comes from doesn't declare it.`)
  const [, comment = '', rest = ''] = start
  // The declaration ends with the first unindented line that ends with a semicolon or is a brace.
  const lines = rest.split('\n')
  const code = lines.slice(0, lines.findIndex((line) => /^(\S.*;|\})$/.test(line)) + 1).join('\n')
  const shown = code.replaceAll(/^ +(#private;|private .*;)\n/gm, '')
  return `### \`${name}\`\n\n${prose(comment)}\`\`\`ts\n${shown}\n\`\`\``
}

function prose(comment: string): string {
  const text = comment.replaceAll(/^\s*\*? ?/gm, '').trim()
  return text ? `${text.replaceAll('\n', ' ')}\n\n` : ''
}

function methodTables(methods: Method[]): string[] {
  return [...Map.groupBy(methods, ({ namespace }) => namespace)].map(([namespace, own]) =>
    [
      `### \`${namespace}\`\n`,
      '| Method | Description | Request |',
      '| --- | --- | --- |',
      ...own.map(
        ({ signature, summary, request }) =>
          `| \`${namespace}.${signature.replaceAll('|', '\\|')}\` | ${summary} | \`${request}\` |`,
      ),
    ].join('\n'),
  )
}
