/** Checks the deployment files against the program: settings, commands, metrics. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, matchesGlob } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parse, parseAllDocuments } from 'yaml'
import { type Config, options, readConfig } from '../src/config.ts'
import { secureDatabaseUrl } from '../src/platform/net/tls.ts'
import { cloneDatabase, dropDatabase, ownerEnv, testEnv } from './databases.ts'
import { loquat, startLoquat, startServing } from './loquat.ts'
import { until } from './until.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const manifests = globSync('deploy/kubernetes/*.yaml')
// biome-ignore lint/suspicious/noExplicitAny: what Kubernetes and Compose take
const documents: any[] = manifests.flatMap((path) =>
  parseAllDocuments(read(path)).map((document) => document.toJS()),
)
const compose = parse(read('compose.yaml'), { merge: true })
const alerts = parse(read('deploy/prometheus/alerts.yaml')).groups[0].rules
const dashboard = read('deploy/grafana/loquat.json')

const settings = Object.values(options).flatMap((group) => Object.values(group))
const known = new Set<string>(settings.map(({ env }) => env))
const required = settings.filter((option) => !('default' in option)).map(({ env }) => env)

const ofKind = (kind: string) => documents.filter((document) => document.kind === kind)

suite('the settings of a deployment', () => {
  const files = ['Dockerfile', 'compose.yaml', ...manifests]
  for (const path of files) {
    test(`all exist: ${path}`, () => {
      const named = read(path).match(/LOQUAT_[A-Z_]+/g) ?? []
      assert.deepEqual(
        named.filter((name) => !known.has(name)),
        [],
      )
    })
  }

  test('include every required one', () => {
    const [config] = ofKind('ConfigMap')
    const [secret] = ofKind('Secret')
    const given = Object.keys({ ...config.data, ...secret.stringData })
    for (const name of required) {
      assert.ok(given.includes(name), `deploy/kubernetes: ${name}`)
      assert.ok(name in compose.services.api.environment, `compose.yaml: ${name}`)
    }
  })
})

suite('the engines of a deployment', () => {
  /** The values of compose.yaml that come from its caller's environment, or their defaults. */
  const filled = (env: Record<string, string>) =>
    Object.fromEntries(
      Object.entries(env).map(([name, value]) => {
        const given = name === 'LOQUAT_SECRET' ? 'x'.repeat(44) : 'password'
        return [name, value.replace(/\$\{\w+(?::-([^}]*))?[^}]*\}/g, (_, or) => or ?? given)]
      }),
    )
  const credentials = ({ directoryUrl, natsUrl, redisUrl }: Config['engines']) =>
    [directoryUrl, natsUrl, redisUrl].map((url) => new URL(url).password)

  test('use TLS on Kubernetes, with certificates that every pod can read', () => {
    const [config] = ofKind('ConfigMap')
    const [secret] = ofKind('Secret')
    const { LOQUAT_CA_FILE, ...env } = { ...config.data, ...secret.stringData }
    const { engines } = readConfig({ ...env, LOQUAT_SECRET: 'x'.repeat(44) })
    assert.deepEqual(credentials(engines), ['password', 'password', 'password'])
    assert.deepEqual(engines.plaintextHosts, [])
    for (const { spec } of [...ofKind('Deployment'), ...ofKind('Job')]) {
      const [{ volumeMounts }] = spec.template.spec.containers
      const mounted = volumeMounts.map(({ mountPath }: { mountPath: string }) => mountPath)
      assert.ok(mounted.includes(dirname(LOQUAT_CA_FILE)))
    }
  })

  test('have passwords in compose.yaml', () => {
    const { engines } = readConfig(filled(compose.services.api.environment))
    assert.deepEqual(credentials(engines), ['password', 'password', 'password'])
    assert.match(compose.services.nats.command.join(' '), /--pass \$\{ENGINES_PASSWORD\}/)
    assert.match(compose.services.redis.command.join(' '), /--requirepass \$\{ENGINES_PASSWORD\}/)
    const [cell] = compose.services['add-cell'].command.slice(-1)
    secureDatabaseUrl(cell, engines)
  })
})

suite('the image', () => {
  const folder = mkdtempSync(join(tmpdir(), 'loquat-image-'))
  after(() => rmSync(folder, { recursive: true }))

  test('contains every file that its build uses', () => {
    copyContext(folder)
    linkModules(folder)
    const steps = [...read('Dockerfile').matchAll(/^RUN npm ci .* && (.+)$/gm)]
    assert.equal(steps.length, 1)
    for (const [, step = ''] of steps) execFileSync(step, { cwd: folder, shell: true })
    for (const [, path = ''] of read('Dockerfile').matchAll(/^COPY (packages\/\S+) \S+$/gm)) {
      assert.ok(existsSync(join(folder, path)), path)
    }
    assert.ok(existsSync(join(folder, 'packages/console/dist/index.html')))
  })
})

/** Copies our own files, without those in `.dockerignore`. */
function copyContext(folder: string): void {
  const left = read('.dockerignore').trim().split('\n')
  const isLeft = (path: string) =>
    left.some((glob) => matchesGlob(path, glob) || matchesGlob(path, `${glob}/**`))
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard']
  const files = execFileSync('git', list, { cwd: ROOT, encoding: 'utf8' })
  for (const path of files.split('\0').filter((file) => file && !isLeft(file))) {
    if (existsSync(join(ROOT, path))) cpSync(join(ROOT, path), join(folder, path))
  }
}

/** Links installed packages, and our own as they were copied. */
function linkModules(folder: string): void {
  mkdirSync(join(folder, 'node_modules'))
  const ours = readdirSync(join(ROOT, 'node_modules/@loquat'))
  mkdirSync(join(folder, 'node_modules/@loquat'))
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    if (name === '@loquat') continue
    symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name))
  }
  for (const name of ours.filter((own) => existsSync(join(folder, 'packages', own)))) {
    symlinkSync(join(folder, 'packages', name), join(folder, 'node_modules/@loquat', name))
  }
}

suite('Kubernetes', () => {
  test('applies every manifest but the example', () => {
    const [{ resources }] = ofKind('Kustomization')
    const applied = manifests
      .map((path) => path.split('/').at(-1))
      .filter((name) => name !== 'kustomization.yaml' && name !== 'secret.example.yaml')
    assert.deepEqual(resources.toSorted(), applied.toSorted())
  })

  test('gives each role time to drain and probes at its own ports', () => {
    const [{ data }] = ofKind('ConfigMap')
    const drain = Number(data.LOQUAT_DRAIN_NOTICE_SECONDS) + Number(data.LOQUAT_DRAIN_SECONDS)
    for (const { spec } of ofKind('Deployment')) {
      const { terminationGracePeriodSeconds, containers } = spec.template.spec
      assert.ok(terminationGracePeriodSeconds > drain)
      const [container] = containers
      const ports = container.ports.map(({ name }: { name: string }) => name)
      for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
        assert.ok(ports.includes(container[probe].httpGet.port))
      }
    }
  })

  test('connects the ingress to services and services to pods', () => {
    const labels = ofKind('Deployment').map(({ spec }) => spec.template.metadata.labels)
    for (const { spec } of ofKind('Service')) {
      assert.ok(
        labels.some(({ app, role }) => spec.selector.app === app && spec.selector.role === role),
      )
    }
    const names = ofKind('Service').map(({ metadata }) => metadata.name)
    const [{ spec }] = ofKind('Ingress')
    for (const { http } of spec.rules) {
      assert.ok(names.includes(http.paths[0].backend.service.name))
    }
  })
})

suite('the commands of compose.yaml, without containers', () => {
  let [directory, cell] = ['', '']
  let env: Record<string, string>
  before(async () => {
    directory = await cloneDatabase('directory')
    cell = await cloneDatabase('cell')
    env = { ...testEnv(directory, []), LOQUAT_LOG_LEVEL: 'info' }
  })
  after(() => Promise.all([directory, cell].map(dropDatabase)))

  const commandOf = (service: string): string[] =>
    compose.services[service].command.map((word: string) =>
      word.startsWith('postgres://') ? cell : word,
    )

  test('create an installation and start each role', async () => {
    for (const service of ['migrate', 'add-cell']) {
      assert.ok('LOQUAT_DATABASE_OWNER' in compose.services[service].environment)
      const { code, stderr } = await loquat(commandOf(service), { ...env, ...ownerEnv() })
      assert.equal(code, 0, stderr)
    }
    const started = await Promise.all(
      ['api', 'gateway', 'worker'].map(async (service) => {
        assert.ok(!('LOQUAT_DATABASE_OWNER' in compose.services[service].environment))
        const running = startLoquat(commandOf(service), env)
        const { internalPort } = await running.logged('ready', ({ msg }) => msg === 'ready')
        const health = await fetch(`http://127.0.0.1:${internalPort}/health/ready`)
        assert.equal(health.status, 200)
        // The alert LoquatNoWorker depends on it.
        const metrics = await (await fetch(`http://127.0.0.1:${internalPort}/metrics`)).text()
        const cells = metrics.match(/^loquat_outbox_oldest_seconds\{cell="us-1"\}/gm) ?? []
        assert.equal(cells.length, service === 'worker' ? 1 : 0)
        assert.match(metrics, /^loquat_db_connections\{.*db="us-1"/m)
        return running
      }),
    )
    const ends = await Promise.all(started.map((running) => running.end('SIGTERM')))
    assert.deepEqual(
      ends.map(({ code }) => code),
      [0, 0, 0],
    )
  })

  test('export every metric that alerts and the dashboard use', async () => {
    const running = await startServing('api,gateway,worker', env)
    const metrics = async () =>
      (await fetch(`http://127.0.0.1:${running.internalPort}/metrics`)).text()
    await running.holds('sequencer')
    await fetch(`http://127.0.0.1:${running.apiPort}/v3/users`)
    const named = new Set(
      [JSON.stringify(alerts), dashboard].flatMap((text) => text.match(/loquat_[a-z_]+/g) ?? []),
    )
    await until('all are shown', async () => {
      const shown = await metrics()
      const missing = [...named].filter((name) => !new RegExp(`^${name}[ {]`, 'm').test(shown))
      // These appear only after webhook calls or sequenced events, and there were none.
      return missing.every((name) => /^loquat_(webhook_call_seconds|events)_/.test(name))
    })
    await running.end('SIGTERM')
  })

  test('come with instructions for each alert in docs/operating.md', () => {
    const guide = read('docs/operating.md')
    for (const { alert } of alerts) assert.match(guide, new RegExp(`\`${alert}\``))
  })
})
