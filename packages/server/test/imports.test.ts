import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const SRC = fileURLToPath(new URL('../src', import.meta.url))

/** The layers, from the top: a file may import from its own layer's list only. */
const MAY_IMPORT: Record<string, string[]> = {
  main: ['cli', 'config', 'engines', 'platform'],
  cli: [
    ...[
      'cli',
      'serve',
      'areas',
      'gate',
      'core',
      'workers',
      'fill',
      'verify',
      'engines',
      'deps',
      'config',
      'platform',
    ],
    'protocol',
  ],
  serve: ['api', 'gateway', 'workers', 'gauges', 'deps', 'config', 'platform', 'protocol'],
  gauges: ['deps', 'platform'],
  api: [
    ...['areas', 'gate', 'core', 'console', 'documents', 'reference', 'deps', 'config', 'platform'],
    'protocol',
  ],
  console: [],
  documents: ['areas', 'reference', 'platform', 'protocol'],
  reference: ['reference', 'gate', 'core', 'deps', 'platform', 'protocol'],
  gateway: ['gateway', 'areas', 'gate', 'core', 'deps', 'config', 'platform', 'protocol'],
  workers: ['workers', 'areas', 'gate', 'core', 'deps', 'config', 'platform', 'protocol'],
  fill: ['fill', 'areas', 'gate', 'core', 'deps', 'config', 'platform', 'protocol'],
  areas: ['areas', 'gate', 'core', 'deps', 'config', 'platform', 'protocol'],
  // The gate finds out who makes a request. Core says what an actor and a setting are, and never asks about requests.
  gate: ['gate', 'core', 'deps', 'config', 'platform', 'protocol'],
  core: ['core', 'platform', 'protocol'],
  verify: ['verify', 'platform'],
  deps: ['config', 'platform', 'protocol'],
  config: ['platform', 'protocol'],
  engines: ['engines', 'platform'],
  platform: ['platform', 'protocol'],
}

// "message" alone is also what an error has, and SQL says "group by".
const FOREIGN_WORDS =
  /\b(messages|groups|group(?! by)|(conversation|member|friend|reaction|receipt)s?|v3)\b|webhook|manage/i

interface Import {
  from: string
  to: string
}

const layerOf = (file: string) => (file.split('/')[0] ?? '').replace(/\.ts$/, '')
const areaOf = (file: string) => file.split('/')[1] ?? ''

const files = globSync('**/*.ts', { cwd: SRC }).filter((file) => !file.endsWith('.test.ts'))
const imports: Import[] = files.flatMap((from) => {
  const source = readFileSync(resolve(SRC, from), 'utf8')
  const specifiers = [...source.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map(
    (match) => match[1] ?? '',
  )
  return specifiers.flatMap((specifier) => {
    if (specifier === '@loquat/protocol') return [{ from, to: 'protocol' }]
    if (!specifier.startsWith('.')) return []
    return [{ from, to: relative(SRC, resolve(SRC, dirname(from), specifier)) }]
  })
})

suite('dependency direction', () => {
  test('finds the imports', () => {
    assert.ok(imports.some(({ from, to }) => from === 'main.ts' && to === 'cli/run.ts'))
  })

  test('every import points down', () => {
    const wrong = imports
      .filter(({ to }) => !to.startsWith('..'))
      .filter(({ from, to }) => !MAY_IMPORT[layerOf(from)]?.includes(layerOf(to)))
    assert.deepEqual(wrong, [])
  })

  test('nothing outside src is imported, but the generated rows and the manifest', () => {
    const outside = imports.filter(
      ({ to }) => to.startsWith('..') && !/(db\/rows\.gen\.ts|^\.\.\/package\.json)$/.test(to),
    )
    assert.deepEqual(outside, [])
  })

  test('an area uses only queries, events, schemas, records, errors, pages and actions of another', () => {
    const open = /\/([a-z-]+\.)?(queries|events|actions|schema|record|errors|page)\.ts$/
    const wrong = imports.filter(
      ({ from, to }) =>
        layerOf(from) === 'areas' &&
        layerOf(to) === 'areas' &&
        areaOf(from) !== areaOf(to) &&
        !open.test(to) &&
        // Explanations ask the rules of all areas.
        !(from === 'areas/access/explain.actions.ts' && to.endsWith('/policy.ts')),
    )
    assert.deepEqual(wrong, [])
  })

  test('routes are imported by the api alone', () => {
    const wrong = imports.filter(({ from, to }) => to.endsWith('routes.ts') && from !== 'api.ts')
    assert.deepEqual(wrong, [])
  })

  test('areas have no cycles', () => {
    const edges = new Map<string, Set<string>>()
    for (const { from, to } of imports) {
      if (layerOf(from) !== 'areas' || layerOf(to) !== 'areas' || areaOf(from) === areaOf(to))
        continue
      const targets = edges.get(areaOf(from)) ?? new Set()
      edges.set(areaOf(from), targets.add(areaOf(to)))
    }
    const reaches = (from: string, goal: string, seen = new Set<string>()): boolean =>
      [...(edges.get(from) ?? [])].some(
        (next) => next === goal || (!seen.has(next) && reaches(next, goal, seen.add(next))),
      )
    assert.deepEqual(
      [...edges.keys()].filter((area) => reaches(area, area)),
      [],
    )
  })

  test('the platform names no chat noun, no webhook and no interface', () => {
    const naming = files
      .filter((file) => file.startsWith('platform/'))
      .filter((file) => {
        const code = readFileSync(resolve(SRC, file), 'utf8')
          .replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')
          // Paths of Google's, Twilio's and SendGrid's.
          .replace(/\/messages:send`|\/Messages\.json`|\/v3\/mail\/send`/, '')
        return FOREIGN_WORDS.test(code)
      })
    assert.deepEqual(naming, [])
  })
})
