/** Builds the published SDK: plain JavaScript and declarations without dependencies. */
import { execFileSync } from 'node:child_process'
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const HERE = fileURLToPath(new URL('.', import.meta.url))

/** Builds the folder for `npm pack` and `npm publish`. Inside the repository, packages import the sources directly. */
export function buildSdk(folder = join(HERE, 'dist')): void {
  rmSync(folder, { recursive: true, force: true })
  compileSdk(folder)
  const { private: _, exports, ...facts } = JSON.parse(read('package.json'))
  const published = { ...facts, exports: Object.fromEntries(Object.entries(exports).map(built)) }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(published, null, 2)}\n`)
  const readme = read('README.md')
  for (const [, page = ''] of readme.matchAll(PAGE)) copy(page, folder)
  writeFileSync(join(folder, 'README.md'), readme.replaceAll(PAGE, '](docs/$1)'))
  cpSync(join(HERE, '../../LICENSE'), join(folder, 'LICENSE'))
}

/** Compiles only the code and declarations. */
export function compileSdk(folder: string, ...options: string[]): void {
  const args = ['-p', join(HERE, 'tsconfig.build.json'), '--outDir', folder, ...options]
  execFileSync('tsc', args, { stdio: 'inherit' })
  for (const file of globSync(join(folder, '**/*.d.ts'))) nameJavaScript(file)
}

/** The compiler leaves `.ts` imports in declarations. Points them to the `.js` files instead. */
function nameJavaScript(file: string): void {
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replaceAll(/(['"])(\.\.?\/[^'"]+)\.ts\1/g, '$1$2.js$1'))
}

/** Links of the README to docs of the repository. These pages are included in the package. */
const PAGE = /\]\(\.\.\/\.\.\/docs\/([\w-]+\.md)\)/g

const copy = (page: string, folder: string) =>
  cpSync(join(HERE, '../../docs', page), join(folder, 'docs', page))

const read = (file: string) => readFileSync(join(HERE, file), 'utf8')

/** Turns `./src/index.ts` into `./index.js` and its declarations. */
function built([entry, source]: [string, unknown]) {
  const file = String(source).replace('./src/', './').replace(/\.ts$/, '')
  return [entry, { types: `${file}.d.ts`, default: `${file}.js` }] as const
}
