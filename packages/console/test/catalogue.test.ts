/** What the console lists by hand is complete and exists. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { suite, test } from 'node:test'
import { features } from '../../server/src/core/access/definitions.ts'
import { settings } from '../../server/src/core/settings.ts'
import { ACTIONS } from '../src/areas/roles/actions.ts'
import { FEATURES } from '../src/areas/roles/features.ts'
import { GROUPS, TEXTS } from '../src/areas/settings/catalogue.ts'
import { pages } from './pages.ts'

suite('the page of a role', () => {
  test('lists every feature that can be restricted, once', () => {
    const listed = Object.values(FEATURES).flatMap((group) => Object.keys(group))
    assert.deepEqual(listed.toSorted(), Object.keys(features).toSorted())
  })
})

suite('the settings of an app', () => {
  test('are all in one panel, with a text', () => {
    const names = Object.keys(settings)
    const panelsOf = (name: string) => GROUPS.filter(({ prefix }) => name.startsWith(prefix))
    assert.deepEqual(
      names.filter((name) => panelsOf(name).length !== 1),
      [],
    )
    assert.deepEqual(Object.keys(TEXTS).toSorted(), names.toSorted())
  })
})

suite('the explanation of rules', () => {
  test('offers only operations that exist', () => {
    const text = readFileSync(new URL('../../server/openapi.json', import.meta.url), 'utf8')
    const paths: Record<string, Record<string, { operationId?: string }>> = JSON.parse(text).paths
    const ids = new Set(
      Object.values(paths).flatMap((item) => Object.values(item).map((one) => one.operationId)),
    )
    assert.deepEqual(
      Object.keys(ACTIONS).filter((action) => !ids.has(action)),
      [],
    )
  })
})

suite('the pages that are looked at', () => {
  test('include every page of an app', () => {
    const router = readFileSync(new URL('../src/router.tsx', import.meta.url), 'utf8')
    const paths = [...router.matchAll(/getParentRoute: \(\) => app,\s+path: '([^']*)'/g)].map(
      ([, path = '']) => path.replace(/\$(\w+)/g, '$1').replace(/\/$/, ''),
    )
    const ids = {
      appId: 'appId',
      uid: 'uid',
      guid: 'guid',
      webhookId: 'webhookId',
      sessionId: 'sessionId',
      agentUid: 'uid',
      runId: 'runId',
      replayedId: 'runId',
    }
    const looked = pages.map(({ path }) => path(ids).replace(/\?.*/, ''))
    assert.ok(paths.length > 15, `${paths.length}`)
    const known = (path: string) =>
      looked.some((each) => each.replace(/(?<=\/roles\/)\w+/, 'role') === `/apps/appId${path}`)
    assert.deepEqual(
      paths.filter((path) => !known(path)),
      [],
    )
  })
})

/** The classes that begin the selectors of some files. */
function classesIn(pattern: string): Map<string, Set<string>> {
  const classes = new Map<string, Set<string>>()
  const cwd = new URL('../src/', import.meta.url).pathname
  for (const file of globSync(pattern, { cwd })) {
    const text = readFileSync(`${cwd}${file}`, 'utf8').replaceAll(/\/\*.*?\*\//gs, '')
    for (const [, name = ''] of text.matchAll(/(?:^|[{},])\s*\.([\w-]+)[^{},]*(?=[^{}]*\{)/g)) {
      const folder = file.split('/').slice(0, -1).join('/')
      classes.set(name, (classes.get(name) ?? new Set()).add(folder))
    }
  }
  return classes
}

suite('the styles of an area', () => {
  // They stay in the page when another area is opened.
  test('have class names of their own, or those of shared styles', () => {
    const shared = classesIn('{styles,shared}/*.css')
    const areas = [...classesIn('areas/**/*.css')]
    assert.ok(areas.length > 100)
    const twice = areas.filter(([name, folders]) => folders.size > 1 && !shared.has(name))
    assert.deepEqual(twice, [])
  })
})
