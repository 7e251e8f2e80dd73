import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

/** The packages by the names under which they import each other. */
const packages = new Map(
  globSync(['packages/*/package.json', 'examples/*/package.json'], { cwd: ROOT }).map((file) => {
    const { name } = JSON.parse(readFileSync(join(ROOT, file), 'utf8')) as { name: string }
    return [name, dirname(file)]
  }),
)

const SPECIFIER = /(?:\bfrom|\bimport)\s*\(?\s*'([^']+)'/g

/** The file that a specifier means, of those in this repository. */
function fileOf(from: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) return relative(ROOT, resolve(ROOT, dirname(from), specifier))
  const name = specifier.split('/').slice(0, 2).join('/')
  const folder = packages.get(name)
  if (folder === undefined) return undefined
  const exported = `.${specifier.slice(name.length)}`
  const { exports = {} } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'))
  const path: string | undefined = exports[exported]
  return path === undefined ? undefined : join(folder, path)
}

/** Type imports count too: to understand one file of a cycle, you have to read them all. */
function importsOf(file: string): string[] {
  const code = readFileSync(join(ROOT, file), 'utf8')
  return [...code.matchAll(SPECIFIER)].flatMap(([, specifier = '']) => {
    const target = fileOf(file, specifier)
    return target !== undefined && existsSync(join(ROOT, target)) ? [target] : []
  })
}

/** The groups of files that reach each other, by Tarjan's algorithm. */
function findCycles(files: string[], edgesOf: (file: string) => string[]): string[][] {
  const index = new Map<string, number>()
  const lowest = new Map<string, number>()
  const stack: string[] = []
  const cycles: string[][] = []
  const visit = (file: string): number => {
    const own = index.size
    index.set(file, own)
    lowest.set(file, own)
    stack.push(file)
    const edges = edgesOf(file)
    for (const next of edges) {
      const reached = index.has(next) ? (stack.includes(next) ? index.get(next) : own) : visit(next)
      lowest.set(file, Math.min(lowest.get(file) ?? own, reached ?? own))
    }
    const low = lowest.get(file) ?? own
    if (low === own) {
      const group = stack.splice(stack.indexOf(file))
      if (group.length > 1 || edges.includes(file)) cycles.push(group.sort())
    }
    return low
  }
  for (const file of files) if (!index.has(file)) visit(file)
  return cycles
}

suite('import cycles', () => {
  const sources = ['packages/*/{src,test,bench,generator,db}', 'examples/*', 'scripts'].map(
    (folder) => `${folder}/**/*.{ts,tsx}`,
  )
  const files = globSync(sources, { cwd: ROOT, exclude: ['**/node_modules/**', '**/dist/**'] })

  test('every package is looked at', () => {
    for (const folder of packages.values())
      assert.ok(
        files.some((file) => file.startsWith(`${folder}/`)),
        folder,
      )
    assert.ok(importsOf('packages/server/src/main.ts').includes('packages/server/src/config.ts'))
    assert.ok(
      importsOf('packages/server/src/core/user-record.ts').includes(
        'packages/protocol/src/index.ts',
      ),
    )
  })

  test('a cycle of three files is found', () => {
    const edges: Record<string, string[]> = { a: ['b'], b: ['c', 'd'], c: ['a'], d: [] }
    assert.deepEqual(
      findCycles(Object.keys(edges), (file) => edges[file] ?? []),
      [['a', 'b', 'c']],
    )
  })

  test('no files import each other in a cycle, type imports included', () => {
    assert.deepEqual(findCycles(files, importsOf), [])
  })
})
