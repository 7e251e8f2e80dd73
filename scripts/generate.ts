/** npm run generate: writes every file that is made from the code or the migrated databases. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { makeTemplates, withEngines } from '../packages/server/test/engines.ts'
import { generatedFiles } from '../packages/server/test/generated.ts'

await withEngines({ durable: false }, async (engines) => {
  await makeTemplates(engines)
  for (const { path, content } of await generatedFiles(engines)) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content)
    console.log(path)
  }
})
