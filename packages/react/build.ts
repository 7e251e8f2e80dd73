/** Builds the published kit: plain JavaScript, one file for each module, with declarations and the theme. */
import { execFileSync } from 'node:child_process'
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const HERE = fileURLToPath(new URL('.', import.meta.url))

/** Builds the folder for `npm pack` and `npm publish`. Inside the repository, packages import the sources directly. */
export function buildReact(folder = join(HERE, 'dist')): void {
  rmSync(folder, { recursive: true, force: true })
  const args = ['-p', join(HERE, 'tsconfig.build.json'), '--outDir', folder]
  execFileSync('tsc', args, { stdio: 'inherit' })
  for (const file of globSync(join(folder, '**/*.d.ts'))) nameJavaScript(file)
  const { private: _, devDependencies: __, exports, ...facts } = JSON.parse(read('package.json'))
  const published = { ...facts, exports: Object.fromEntries(Object.entries(exports).map(built)) }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(published, null, 2)}\n`)
  cpSync(join(HERE, 'src/theme.css'), join(folder, 'theme.css'))
  cpSync(join(HERE, 'README.md'), join(folder, 'README.md'))
  cpSync(join(HERE, '../../LICENSE'), join(folder, 'LICENSE'))
}

/** The compiler leaves `.ts` imports in declarations. Points them to the `.js` files instead. */
function nameJavaScript(file: string): void {
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replaceAll(/(['"])(\.\.?\/[^'"]+)\.tsx?\1/g, '$1$2.js$1'))
}

const read = (file: string) => readFileSync(join(HERE, file), 'utf8')

/** Turns `./src/index.ts` into `./index.js` and its declarations. */
function built([entry, source]: [string, unknown]) {
  const file = String(source).replace('./src/', './')
  if (file.endsWith('.css')) return [entry, file] as const
  const name = file.replace(/\.ts$/, '')
  return [entry, { types: `${name}.d.ts`, default: `${name}.js` }] as const
}
