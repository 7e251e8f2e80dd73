/** npm run build: the console's files, and the SDK and the React kit as they are published. */
import { execFileSync } from 'node:child_process'
import { buildReact } from '../packages/react/build.ts'
import { buildSdk } from '../packages/sdk/build.ts'

execFileSync('vite', ['build', 'packages/console'], { stdio: 'inherit' })
buildSdk()
buildReact()
