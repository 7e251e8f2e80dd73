/** npm run generate: writes every file that is made from the code or the migrated databases. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { makeTemplates, withEngines } from '../packages/server/test/engines.ts'
import {
  type GeneratedFile,
  generatedExamples,
  generatedFiles,
  generatedSources,
} from '../packages/server/test/generated.ts'

function write({ path, content }: GeneratedFile): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
  console.log(path)
}

for (const file of generatedSources()) write(file)
await withEngines({ durable: false }, async (engines) => {
  await makeTemplates(engines)
  Object.assign(process.env, engines)
  write(await generatedExamples())
  for (const file of await generatedFiles(engines)) write(file)
})
