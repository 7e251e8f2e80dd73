/** npm run build: the console's files, and the SDK as it is published. */
import { execFileSync } from 'node:child_process'
import { buildSdk } from '../packages/sdk/build.ts'

execFileSync('vite', ['build', 'packages/console'], { stdio: 'inherit' })
buildSdk()
