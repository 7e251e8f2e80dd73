/** Makes docs/sdk.md: all that the SDK exports, from its declarations and from the OpenAPI documents. */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Method } from './methods.ts'

export interface Sources {
  /** A folder with the declarations of the built SDK. */
  folder: string
  /** The methods of `Loquat` and of `LoquatManagement`. */
  operations: Method[]
  management: Method[]
}

export function referencePage(note: string, { folder, operations, management }: Sources): string {
  return [
    '# The SDK',
    note,
    'All that `@loquat/sdk` exports; its README shows how it is used. Types of bodies, queries and answers are named after their operation, and their fields stand in the reference of the REST interface, at `/v3/docs` of a running service. Error codes: [errors.md](errors.md). Events: [events.md](events.md).',
    '## `@loquat/sdk`',
    ...exportsOf(folder, 'index.d.ts'),
    '## `@loquat/sdk/client`',
    ...exportsOf(folder, 'client/index.d.ts'),
    '## Operations of an app',
    'Methods of `Loquat`, and of `LoquatClient.api`. Each takes `options?: CallOptions` last.',
    ...methodTables(operations),
    '## Operations of the management interface',
    'Methods of `LoquatManagement`. Each takes `options?: CallOptions` last.',
    ...methodTables(management),
  ]
    .join('\n\n')
    .concat('\n')
}

/** What an entry exports by name; what it exports whole are the types of operations. */
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
  if (!start) throw new Error(`${name} is exported, but not declared where the entry says.`)
  const [, comment = '', rest = ''] = start
  // It ends with the first line that is not indented and is whole.
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
      '| method | what it does | request |',
      '| --- | --- | --- |',
      ...own.map(
        ({ signature, summary, request }) =>
          `| \`${namespace}.${signature.replaceAll('|', '\\|')}\` | ${summary} | \`${request}\` |`,
      ),
    ].join('\n'),
  )
}
