#!/usr/bin/env node
// Plain JavaScript: it must be able to speak on a Node that cannot run what follows.
const [major] = process.versions.node.split('.').map(Number)
if (major < 24) {
  process.stderr.write(
    `Loquat needs Node 24 or newer and this is ${process.version}.\n` +
      'In a checkout, "npm ci" brings the right one, and "npx loquat" runs on it.\n',
  )
  process.exit(1)
}
// Most of a short command's time goes into compiling: keep the result. Older Nodes lack it.
const { enableCompileCache } = await import('node:module')
enableCompileCache?.()
await import('../src/main.ts')
