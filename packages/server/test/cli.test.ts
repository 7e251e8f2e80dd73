import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, suite, test } from 'node:test'
import manifest from '../package.json' with { type: 'json' }
import { commands } from '../src/cli/program.ts'
import { findBinaries } from '../src/engines/binaries.ts'
import { freePort } from '../src/engines/process.ts'
import { ensureDatabase } from '../src/platform/db/migrate.ts'
import { command } from './command.ts'
import {
  asOwner,
  cloneDatabase,
  dropDatabase,
  insertCell,
  ownerEnv,
  queryAt,
  testEnv,
} from './databases.ts'
import { databaseUrl } from './engines.ts'
import { LOQUAT, loquat, type Outcome, type Serving, startServing } from './loquat.ts'
import { startScriptedJanus } from './scripted-janus.ts'

/** No engines run in this folder. */
const NOWHERE = { LOQUAT_ENGINES_DIR: '/nonexistent/engines' }
const STACK = /^\s+at .*:\d+/m

let env: Record<string, string>
let directoryUrl: string
let cellUrl: string

before(async () => {
  directoryUrl = await cloneDatabase('directory')
  cellUrl = await cloneDatabase('cell')
  await insertCell(directoryUrl, 'us-1', cellUrl)
  env = testEnv(directoryUrl, ['us-1'])
})
after(() => Promise.all([directoryUrl, cellUrl].map(dropDatabase)))

function assertRefused({ code, stdout, stderr }: Outcome, ...reasons: RegExp[]) {
  assert.equal(code, 1, stderr)
  assert.equal(stdout, '')
  for (const reason of reasons) assert.match(stderr, reason)
  assert.doesNotMatch(stderr, STACK)
}

interface Created {
  appId: string
  apiKey: string
  authKey: string
}

async function createApp(...flags: string[]): Promise<Created> {
  const args = ['apps', 'create', '--name', 'Book club', '--json', ...flags]
  const { code, stdout, stderr } = await command(args, env)
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout)
}

suite('help', { concurrency: 3 }, () => {
  test('every command has examples that use it', () => {
    for (const { name, examples } of commands) {
      assert.ok(examples.length > 0, name)
      for (const example of examples) assert.ok(example.startsWith(`loquat ${name}`), example)
    }
  })

  test('the help of a command shows its summary, flags and examples', async () => {
    const { code, stdout } = await command(['apps', 'create', '--help'], NOWHERE)
    assert.equal(code, 0)
    assert.match(stdout, /^Usage: loquat apps create/)
    assert.match(stdout, /Create an app: an isolated set of users, groups, messages and keys\./)
    assert.match(stdout, /--region <region> +the region that stores its data/)
    assert.match(stdout, /^Examples:\n {2}loquat apps create --name "Book club"$/m)
  })

  test('the main help lists every group and the first command to try', async () => {
    const { stdout } = await loquat(['--help'], NOWHERE)
    for (const { name } of commands)
      assert.match(stdout, new RegExp(`^ +${name.split(' ')[0]}`, 'm'))
    assert.match(stdout, /First time here\? +loquat dev/)
  })

  test('--version prints the version of the package', async () => {
    const { code, stdout } = await command(['--version'], NOWHERE)
    assert.deepEqual([code, stdout], [0, `${manifest.version}\n`])
  })

  test('a mistyped command or flag gets a suggestion', async () => {
    assertRefused(await command(['aps', 'create'], NOWHERE), /Did you mean apps\?/)
    assertRefused(await command(['apps', 'creat'], NOWHERE), /Did you mean create\?/)
    const create = ['apps', 'create', '--name', 'x', '--jso']
    assertRefused(await loquat(create, NOWHERE), /Did you mean --json\?/)
  })

  test('an older Node gets a message that says which version is needed', (t) => {
    const old = ['/usr/bin/node', '/usr/local/bin/node'].find((path) => {
      const { status, stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' })
      return status === 0 && Number(/^v(\d+)/.exec(stdout)?.[1]) < 24
    })
    if (!old) return t.skip('no older Node on this machine')
    const { status, stderr } = spawnSync(old, [LOQUAT, 'dev'], { encoding: 'utf8' })
    assert.equal(status, 1)
    assert.match(stderr, /needs Node 24 or newer[\s\S]*npx loquat/)
    assert.doesNotMatch(stderr, STACK)
  })
})

suite('apps create', { concurrency: 3 }, () => {
  test('prints one JSON object and nothing else', async () => {
    const args = ['apps', 'create', '--name', 'Book club', '--json']
    const { code, stdout, stderr } = await loquat(args, {
      ...env,
      LOQUAT_PUBLIC_URL: 'https://chat.example.org',
    })
    assert.deepEqual([code, stderr], [0, ''])
    const app = JSON.parse(stdout)
    const names = ['appId', 'region', 'baseUrl', 'apiKey', 'authKey']
    assert.deepEqual(Object.keys(app), names)
    assert.equal(app.region, 'us')
    assert.equal(app.baseUrl, `https://${app.appId}.api-us.chat.example.org/v3`)
    for (const key of [app.apiKey, app.authKey]) assert.match(key, /^[0-9a-f]{40}$/)
    assert.notEqual(app.apiKey, app.authKey)
  })

  test('stores keys only hashed and encrypted', async () => {
    const { appId, apiKey, authKey } = await createApp()
    const dumped = [dump(cellUrl), dump(directoryUrl)].join('\n')
    assert.ok(dumped.includes(appId), 'the dump contains the app')
    for (const key of [apiKey, authKey]) {
      assert.ok(!dumped.includes(key))
      assert.ok(!dumped.includes(Buffer.from(key).toString('hex')))
    }
  })

  test('the first event of the app is its creation', async () => {
    const { appId } = await createApp()
    const { rows } = await queryAt(
      cellUrl,
      'select type, payload from outbox join apps using (app_no) where app_id = $1 order by id',
      [appId],
    )
    const payload = { appId, name: 'Book club', region: 'us' }
    assert.deepEqual(rows, [{ type: 'app.created', payload }])
  })

  test('explains why it cannot create an app', async () => {
    const create = (...flags: string[]) => command(['apps', 'create', ...flags], env)
    assertRefused(await create(), /--name/)
    assertRefused(await create('--name', ' '), /--name must have 1 to 100 characters/)
    assertRefused(await create('--name', 'x', '--region', 'mars'), /us, eu, in/)
    assertRefused(
      await create('--name', 'x', '--region', 'in'),
      /No cell in the region in accepts new apps/,
    )
  })
})

suite('operators', () => {
  let serving: Serving
  before(async () => {
    serving = await startServing('api', env)
  })
  after(() => serving.end())

  const manage = (method: string, path: string, init: RequestInit = {}) =>
    fetch(`http://127.0.0.1:${serving.apiPort}/manage${path}`, {
      method,
      ...init,
      ...(init.body && { headers: { ...init.headers, 'content-type': 'application/json' } }),
    })
  const statusOf = async (headers: Record<string, string>) =>
    (await manage('GET', '/operator', { headers })).status

  const signIn = async (email: string, password: string) => {
    const body = JSON.stringify({ email, password })
    const answer = await manage('POST', '/sessions', { body })
    return { status: answer.status, cookie: answer.headers.getSetCookie()[0]?.split(';')[0] ?? '' }
  }

  /** Creates an operator and signs in. */
  const newOperator = async (email: string, name = 'Rui') => {
    const created = await command(
      ['operators', 'create', '--email', email, '--name', name, '--json'],
      env,
    )
    const { password } = JSON.parse(created.stdout || assert.fail(created.stderr))
    return { email, password, cookie: (await signIn(email, password)).cookie }
  }

  const newKey = async (cookie: string, password: string) => {
    const body = JSON.stringify({ name: 'Script', password })
    const answer = await manage('POST', '/keys', { headers: { cookie }, body })
    const { data } = (await answer.json()) as { data: { key: string; secret: string } }
    return { key: data.key, secret: data.secret }
  }

  const auditOf = async (email: string) => {
    const { rows } = await queryAt(
      directoryUrl,
      `select action, via, before, after from audit where target->>'email' = $1 order by id`,
      [email],
    )
    return rows.map(({ action, via, before, after }) => [action, via, before, after])
  }

  test('create makes an account that can sign in and own apps', async () => {
    const args = ['operators', 'create', '--email', 'Rui@Example.org', '--name', 'Rui', '--json']
    const { code, stdout, stderr } = await loquat(args, env)
    assert.deepEqual([code, stderr], [0, ''])
    const { email, password } = JSON.parse(stdout)
    assert.equal(email, 'rui@example.org')
    const { appId } = await createApp('--owner', 'rui@example.org')
    const { status, cookie } = await signIn(email, password)
    assert.equal(status, 200)
    const apps = (await (await manage('GET', '/apps', { headers: { cookie } })).json()) as {
      data: { id: string; role: string }[]
    }
    assert.deepEqual(
      apps.data.map(({ id, role }) => [id, role]),
      [[appId, 'owner']],
    )
    assert.ok(!dump(directoryUrl).includes(password))
  })

  test('create rejects an invalid or taken email address', async () => {
    const create = (email: string) =>
      command(['operators', 'create', '--email', email, '--name', 'Rui'], env)
    assertRefused(await create('rui'), /--email must be an email address/)
    assertRefused(await create('rui@example.org'), /An account with the email address/)
    assertRefused(
      await command(['apps', 'create', '--name', 'x', '--owner', 'no@example.org'], env),
      /no operator "no@example.org"/,
    )
  })

  test('list shows every account as a table or as JSON', async () => {
    await newOperator('lia@example.org', 'Lia \u001b[2J\u202e')
    const { stdout } = await command(['operators', 'list'], env)
    assert.match(stdout, /^EMAIL +NAME +STATE +2FA +APPS +SESSIONS +KEYS +CREATED$/m)
    assert.match(stdout, /^lia@example\.org +Lia �\[2J� +active +off +0 +1 +0 +\d{4}-\d\d-\d\d$/m)
    const listed: { email: string }[] = JSON.parse(
      (await command(['operators', 'list', '--json'], env)).stdout,
    )
    const { createdAt, ...lia } = listed.find(({ email }) => email === 'lia@example.org') as {
      email: string
      createdAt: number
    }
    assert.deepEqual(lia, {
      ...{ email: 'lia@example.org', name: 'Lia \u001b[2J\u202e', state: 'active' },
      ...{ totp: false, apps: 0, sessions: 1, keys: 0 },
    })
    assert.ok(Number.isInteger(createdAt))
  })

  test('disable ends sessions, keys and sign-ins at once, until enable', async () => {
    const { email, password, cookie } = await newOperator('nia@example.org')
    const key = await newKey(cookie, password)
    assert.deepEqual([await statusOf({ cookie }), await statusOf(key)], [200, 200])

    // As if the session had begun while the command ran, so that the command didn't see it.
    const set = (value: string) =>
      queryAt(directoryUrl, `update operators set disabled_at = ${value} where email = $1`, [email])
    await set('now()')
    assert.equal(await statusOf({ cookie }), 401)
    await set('null')

    const disabled = await command(['operators', 'disable', 'Nia@example.org'], env)
    assert.match(disabled.stdout, /^Disabled nia@example\.org and ended 1 session\. To undo this, /)
    assert.deepEqual([await statusOf({ cookie }), await statusOf(key)], [401, 401])
    assert.equal((await signIn(email, password)).status, 401)
    assertRefused(await command(['operators', 'disable', email], env), /already disabled/)
    assertRefused(
      await command(['apps', 'create', '--name', 'x', '--owner', email], env),
      /nia@example\.org is disabled/,
    )

    const enabled = await command(['operators', 'enable', email], env)
    assert.equal(enabled.stdout, 'Enabled nia@example.org.\n', enabled.stderr)
    assertRefused(await command(['operators', 'enable', email], env), /is not disabled/)
    // Old sessions stay ended.
    assert.deepEqual([await statusOf({ cookie }), await statusOf(key)], [401, 200])
    assert.equal((await signIn(email, password)).status, 200)
    assert.deepEqual(await auditOf(email), [
      ['disableOperator', 'command', { disabled: false }, { disabled: true }],
      ['enableOperator', 'command', { disabled: true }, { disabled: false }],
    ])
  })

  test('reset-password prints a new password once and ends sessions, and keys on request', async () => {
    const { email, password, cookie } = await newOperator('pia@example.org')
    const key = await newKey(cookie, password)
    // Too many attempts: nobody gets in, not even with the right password.
    const attempts = 'insert into attempts (subject, count) values ($1, 1000)'
    await queryAt(directoryUrl, attempts, [email])
    assert.equal((await signIn(email, password)).status, 429)

    const reset = await command(['operators', 'reset-password', email], env)
    const [, next = ''] =
      /^Operator {2}pia@example\.org\nPassword {2}(\S{20})\n$/.exec(reset.stdout) ?? []
    assert.deepEqual([await statusOf({ cookie }), await statusOf(key)], [401, 200])
    assert.equal((await signIn(email, next)).status, 200)
    assert.equal((await signIn(email, password)).status, 401)
    assert.ok(!dump(directoryUrl).includes(next))

    const again = await command(['operators', 'reset-password', email, '--end-keys', '--json'], env)
    assert.deepEqual(Object.keys(JSON.parse(again.stdout)), ['email', 'password'])
    assert.equal(await statusOf(key), 401)
    assert.deepEqual(await auditOf(email), [
      ['resetPassword', 'command', null, { endKeys: false }],
      ['resetPassword', 'command', null, { endKeys: true }],
    ])
  })

  test('reset-totp turns two-factor authentication off and ends sessions', async () => {
    const { email, password, cookie } = await newOperator('tia@example.org')
    const reset = () => command(['operators', 'reset-totp', email], env)
    assertRefused(await reset(), /doesn't use two-factor authentication\. Nothing was changed/)
    assert.equal(await statusOf({ cookie }), 200)
    await queryAt(
      directoryUrl,
      `with turned_on as (
         update operators set totp_sealed = 'sealed' where email = $1 returning operator_no
       )
       insert into recovery_codes select operator_no, 'hash' from turned_on`,
      [email],
    )
    assert.equal((await signIn(email, password)).status, 401)

    assert.match((await reset()).stdout, /^Turned off two-factor .* and ended 1 session\.\n$/)
    assert.equal(await statusOf({ cookie }), 401)
    assert.equal((await signIn(email, password)).status, 200)
    const { rows } = await queryAt(
      directoryUrl,
      'select from recovery_codes join operators using (operator_no) where email = $1',
      [email],
    )
    assert.equal(rows.length, 0)
    assert.deepEqual(await auditOf(email), [
      ['resetTotp', 'command', { totp: true }, { totp: false }],
    ])
  })

  test('commands about one account name an unknown email address', async () => {
    for (const word of ['disable', 'enable', 'reset-password', 'reset-totp']) {
      const outcome = await command(['operators', word, 'no@example.org'], env)
      assertRefused(outcome, /no operator "no@example\.org"\. Run: loquat operators list/)
      assertRefused(await command(['operators', word], env), /missing required argument 'email'/)
    }
  })
})

suite('apps list and cells list', () => {
  test('show apps and cells as tables or as JSON, without passwords', async () => {
    const { appId } = await createApp()
    const apps = await command(['apps', 'list'], env)
    assert.match(apps.stdout, /^APP +NAME +REGION +CELL +STATE +OWNER +CREATED$/m)
    assert.match(apps.stdout, new RegExp(`^${appId} +Book club +us +us-1 +active +- +\\d{4}-`, 'm'))
    const listed: { appId: string }[] = JSON.parse(
      (await command(['apps', 'list', '--json'], env)).stdout,
    )
    const { createdAt, ...app } = listed.find((one) => one.appId === appId) as {
      appId: string
      createdAt: number
    }
    assert.deepEqual(app, {
      ...{ appId, name: 'Book club', region: 'us', state: 'active', owner: null, cell: 'us-1' },
    })
    assert.ok(Number.isInteger(createdAt))

    const { host, pathname, password } = new URL(cellUrl)
    const cells = await command(['cells', 'list'], env)
    assert.match(cells.stdout, /^CELL +REGION +ADDRESS +APPS +NEW APPS +SYNCHRONOUS +CREATED\n/)
    assert.match(
      cells.stdout,
      new RegExp(`^us-1 +us +${host}${pathname} +\\d+ +yes +no +\\d{4}-`, 'm'),
    )
    const json = await command(['cells', 'list', '--json'], env)
    const [cell] = JSON.parse(json.stdout)
    assert.deepEqual(
      [cell.id, cell.address, cell.acceptsApps],
      ['us-1', `${host}${pathname}`, true],
    )
    for (const { stdout } of [cells, json]) assert.ok(!stdout.includes(password))
  })
})

suite('media-servers', () => {
  test('are added if they answer, drained, and removed when no call is on them', async (t) => {
    const janus = await startScriptedJanus('hush')
    t.after(janus.stop)
    const own = { ...env, ...ownerEnv(), LOQUAT_MEDIA_SECRET: 'hush' }
    const run = (word: string, address: string, ...flags: string[]) =>
      command(['media-servers', word, '--address', address, ...flags], own)
    const names = new Map<string, string>()
    /** The servers, without the names that are made from their addresses. */
    const listed = async () => {
      const { stdout } = await command(['media-servers', 'list', '--json'], own)
      return (JSON.parse(stdout) as { name: string; address: string }[]).map(({ name, ...all }) => {
        assert.match(name, /^media-[0-9a-f]{8}$/)
        assert.equal(names.get(all.address) ?? name, name)
        names.set(all.address, name)
        return all as Record<string, unknown>
      })
    }
    const werift = {
      ...{ address: 'werift', region: null, acceptsCalls: true, calls: 0 },
      ...{ answers: null, senders: null, fromEnvironment: true },
    }
    assertRefused(
      await run('add', 'http://127.0.0.1/janus'),
      /--address must look like janus\+http/,
    )
    const dead = `janus+http://127.0.0.1:${await freePort()}/janus`
    assertRefused(
      await run('add', dead),
      /does not answer as a media server/,
      /Nothing was changed/,
    )
    const address = ['media-servers', 'add', '--address', janus.address]
    const wrong = await command(address, { ...own, LOQUAT_MEDIA_SECRET: 'other' })
    assertRefused(wrong, /Unauthorized/, /LOQUAT_MEDIA_SECRET/)
    assertRefused(await run('drain', janus.address), /no media server janus/)
    assertRefused(await run('remove', 'werift'), /is in LOQUAT_MEDIA_SERVERS/)
    assert.deepEqual(await listed(), [werift])

    assert.equal((await run('add', janus.address, '--region', 'eu')).code, 0)
    janus.rooms.set(1, new Set([1, 2]))
    const { appId } = await createApp()
    await queryAt(
      cellUrl,
      `insert into calls (app_no, id, conversation, kind, receiver, initiator, type, mode, status, media_server)
       select app_no, n, n, 'user', 'ben', 'amira', 'audio', 'call', case n when 1 then 'ongoing' else 'ended' end, $2
       from apps, generate_series(1, 2) n where app_id = $1`,
      [appId, janus.address],
    )
    const shown = { address: janus.address, region: 'eu', calls: 1, answers: true, senders: 2 }
    assert.deepEqual(await listed(), [
      { ...shown, acceptsCalls: true, fromEnvironment: false },
      werift,
    ])
    assertRefused(await run('remove', janus.address), /1 call is on/, /media-servers drain/)
    assert.equal((await run('drain', janus.address)).code, 0)
    assert.match(
      (await command(['media-servers', 'list'], own)).stdout,
      /^NAME +ADDRESS +REGION +NEW CALLS +CALLS +SENDERS +ANSWERS +NAMED BY\nmedia-\S+ +janus\S+ +eu +no +1 +2 +yes +command\nmedia-\S+ +werift +all +yes +0 +- +- +environment\n/,
    )
    assert.equal((await run('add', janus.address)).code, 0)
    const [again] = await listed()
    assert.deepEqual([again?.acceptsCalls, again?.region], [true, 'eu'])
    assert.equal(new Set(names.values()).size, 2)
    assert.equal((await run('remove', janus.address, '--despite-calls')).code, 0)
    assert.deepEqual(await listed(), [werift])
  })
})

suite('apps suspend, throttle and resume', () => {
  test('change what an app may do, say so, and are in the audit log', async () => {
    const { appId } = await createApp()
    const run = async (...words: string[]) => {
      const { stdout } = await command(['apps', ...words], env)
      const { stdout: listed } = await command(['apps', 'list'], env)
      const [, state] = new RegExp(`^${appId} .* us-1 +(\\w+)`, 'm').exec(listed) ?? []
      return [stdout.trim(), state]
    }
    const throttled = [`App ${appId} is throttled to 10 %.`, 'throttled']
    assert.deepEqual(await run('throttle', appId, '10'), throttled)
    assert.deepEqual(await run('suspend', appId), [`App ${appId} is suspended.`, 'suspended'])
    assert.deepEqual(await run('resume', appId), [`App ${appId} is active.`, 'active'])
    const text = 'select action from audit where app_id = $1 order by id'
    const { rows } = await queryAt(directoryUrl, text, [appId])
    assert.deepEqual(rows.map(({ action }) => action).slice(-3), [
      'throttleApp',
      'suspendApp',
      'resumeApp',
    ])
  })

  test('reject an unknown app and a wrong percentage', async () => {
    assertRefused(await command(['apps', 'suspend', 'nobody'], env), /no app "nobody"/)
    assertRefused(await command(['apps', 'throttle', 'nobody', '100'], env), /from 1 to 99/)
  })
})

/** The path of a PostgreSQL program. */
const tool = (name: string) => join(dirname(findBinaries(process.env.PATH ?? '').postgres), name)

/** A dump of a database. */
const dump = (url: string): string =>
  execFileSync(tool('pg_dump'), [asOwner(url)], { encoding: 'utf8' })

suite('apps set', () => {
  let appId: string
  before(async () => {
    appId = (await createApp()).appId
  })
  const set = (...pairs: string[]) => command(['apps', 'set', appId, ...pairs], env)
  const stored = async () => {
    const found = await queryAt(cellUrl, 'select settings from apps where app_id = $1', [appId])
    return found.rows[0]?.settings
  }

  test('shows, changes and resets settings', async () => {
    assert.match((await set()).stdout, /^rate\.core=10000$/m)
    const changed = await set('rate.core=5', 'core.conversations.updateOnReplies=false')
    assert.equal(changed.code, 0, changed.stderr)
    assert.match(changed.stdout, /^rate\.core=5 +\(default 10000\)$/m)
    assert.deepEqual(await stored(), {
      'rate.core': 5,
      'core.conversations.updateOnReplies': false,
    })
    await queryAt(
      cellUrl,
      `update apps set settings = settings || '{"rate.core":4}' where app_id = $1`,
      [appId],
    )
    assert.match((await set()).stdout, /^rate\.core=4 +\(default 10000, at most 5\)$/m)
    assert.equal((await set('rate.core=')).stdout, 'rate.core=10000\n')
    assert.deepEqual(await stored(), { 'core.conversations.updateOnReplies': false })
    const { rows } = await queryAt(
      directoryUrl,
      `select via, before, after, status from audit join audit_outcomes using (id)
       where app_id = $1 and action = 'setSettings' order by id`,
      [appId],
    )
    const name = 'core.conversations.updateOnReplies'
    assert.deepEqual(
      rows.map(({ via, before, after, status }) => [via, before, after, status]),
      [
        ['command', { 'rate.core': 10_000, [name]: true }, { 'rate.core': 5, [name]: false }, 200],
        ['command', { 'rate.core': 4 }, { 'rate.core': 10_000 }, 200],
      ],
    )
  })

  test('reports all errors together and changes nothing', async () => {
    const before = await stored()
    assertRefused(
      await set('rate.standard=9', 'rate.core=0', 'rate.cor=1', 'limits', 'rate.standard=1.5'),
      /Nothing was changed/,
      /rate\.core must be an integer from 1 to/,
      /there is no setting "rate\.cor"/,
      /"limits" must have the form NAME=VALUE/,
      /rate\.standard must be an integer/,
    )
    assert.deepEqual(await stored(), before)
  })

  test('rejects an unknown app', async () => {
    assertRefused(await command(['apps', 'set', 'nobody', 'rate.core=1'], env), /no app "nobody"/)
  })
})

suite('migrate and cells add', () => {
  const fresh: string[] = []
  const newDatabase = async (name: string) => {
    const url = databaseUrl(process.env, `test_cli_${name}_${process.pid}`)
    await ensureDatabase(url)
    fresh.push(url)
    return url
  }
  after(() => Promise.all(fresh.map(dropDatabase)))

  test('migrate, cells add and apps create make an installation', async () => {
    const directory = await newDatabase('directory')
    const own = { ...env, LOQUAT_DIRECTORY_URL: directory }
    assertRefused(await command(['apps', 'create', '--name', 'x'], own), /Run: loquat migrate/)

    const first = await command(['migrate'], own)
    assert.match(
      first.stdout,
      /^directory: ran 0001_baseline; applied functions of audit, triggers$/m,
      first.stderr,
    )
    assert.match(first.stdout, /no cells yet: add one with loquat cells add/)

    const url = await newDatabase('cell')
    const add = ['cells', 'add', '--id', 'eu-7', '--region', 'eu', '--url', url]
    const added = await command(add, own)
    assert.equal(added.stdout, 'Cell eu-7 is ready.\n', added.stderr)

    const again = await command(['migrate'], own)
    assert.equal(again.stdout, 'directory: up to date\ncell eu-7: up to date\n', again.stderr)

    const create = ['apps', 'create', '--name', 'x', '--region', 'eu', '--json']
    const { appId, region } = JSON.parse((await command(create, own)).stdout)
    assert.equal(region, 'eu')
    const { rows } = await queryAt(url, 'select app_id from apps')
    assert.deepEqual(rows, [{ app_id: appId }])
  })

  test('a cell moves to a database with its apps, and to no other without the flag', async () => {
    await createApp()
    const copy = await newDatabase('copy')
    execFileSync(tool('psql'), [copy, '-qv', 'ON_ERROR_STOP=1'], { input: dump(cellUrl) })
    const { appId: younger } = await createApp()
    const empty = await newDatabase('empty')
    const directory = await newDatabase('directory_copy')
    execFileSync(tool('psql'), [directory, '-qv', 'ON_ERROR_STOP=1'], { input: dump(directoryUrl) })
    const own = { ...env, ...ownerEnv(), LOQUAT_DIRECTORY_URL: directory }
    const move = (url: string, ...flags: string[]) =>
      command(['cells', 'add', '--id', 'us-1', '--region', 'us', '--url', url, ...flags], own)
    const address = async () => (await queryAt(directory, 'select url_sealed from cells')).rows
    const before = await address()

    const refused = await move(empty)
    assertRefused(refused, /Nothing was changed/, /another --id/, /--despite-missing-apps/)
    const [, lost] = /and (\d+) of its apps are not in that database/.exec(refused.stderr) ?? []
    assert.ok(Number(lost) >= 2)
    assert.deepEqual(
      (await queryAt(empty, 'select from pg_tables where tablename = $1', ['apps'])).rows,
      [],
    )
    assertRefused(await move(copy), new RegExp(`1 of its apps .*: ${younger}\\.`))
    assert.deepEqual(await address(), before)

    const moved = await move(copy, '--despite-missing-apps')
    assert.equal(moved.stdout, 'Cell us-1 is ready.\n', moved.stderr)
    assert.notDeepEqual(await address(), before)
    const same = await move(cellUrl)
    assert.equal(same.stdout, 'Cell us-1 is ready.\n', same.stderr)
  })

  test('dev rejects an installation that it did not create', async () => {
    const cells = async () =>
      (await queryAt(directoryUrl, 'select cell_id, url_sealed from cells')).rows
    const before = await cells()
    const outcome = await loquat(['dev', '--port', String(await freePort())], env)
    assertRefused(outcome, /loquat dev didn't create its cell us-1/, /loquat serve/)
    assert.deepEqual(await cells(), before)
  })

  test('rejects invalid cells', async () => {
    const add = (id: string, region: string, url: string) =>
      command(['cells', 'add', '--id', id, '--region', region, '--url', url], env)
    assertRefused(await add('US 1', 'us', cellUrl), /--id must have/)
    assertRefused(await add('us-9', 'us', 'localhost/cell'), /must begin with postgres:\/\//)
    assertRefused(await add('us-9', 'us', directoryUrl), /This is the directory/)
    assertRefused(await add('us-1', 'eu', cellUrl), /Cell us-1 is in region us/)
    const missing = await add('us-9', 'us', databaseUrl(process.env, 'no_such_database'))
    assertRefused(missing, /"no_such_database" does not exist/, /Nothing was changed/)
    for (const mode of ['disable', 'require']) {
      const weak = await add('us-9', 'us', `postgres://me:hush@db.example.org/x?sslmode=${mode}`)
      assertRefused(weak, /--url must have sslmode=verify-full/, /Nothing was changed/)
      assert.doesNotMatch(weak.stderr, /hush/)
    }
    const { rows } = await queryAt(directoryUrl, 'select cell_id from cells')
    assert.deepEqual(rows, [{ cell_id: 'us-1' }])
  })
})

suite('unreachable databases', { concurrency: 3 }, () => {
  const unreachable = () => ({ ...env, LOQUAT_DIRECTORY_URL: 'postgres://me:hush@127.0.0.1:1/x' })

  for (const command of ['serve', 'migrate', 'apps create --name x']) {
    test(`${command}: names a directory that does not answer, and says what to do`, async () => {
      const outcome = await loquat(command.split(' '), unreachable())
      assertRefused(outcome, /The directory .* 127\.0\.0\.1:1\/x/, /LOQUAT_DIRECTORY_URL/)
      assert.doesNotMatch(outcome.stderr, /hush/)
    })
  }

  test('reports a wrong password without showing it', async () => {
    const wrong = new URL(directoryUrl)
    wrong.password = 'hush'
    const outcome = await command(['migrate'], { ...env, LOQUAT_DIRECTORY_URL: wrong.href })
    assertRefused(outcome, /password authentication failed/, /LOQUAT_DIRECTORY_URL/)
    assert.doesNotMatch(outcome.stderr, /hush/)
  })

  test('names a cell that does not answer', async () => {
    const directory = await cloneDatabase('directory')
    try {
      await insertCell(directory, 'us-3', 'postgres://me:hush@127.0.0.1:1/us-3')
      const own = { ...env, LOQUAT_DIRECTORY_URL: directory }
      const outcome = await command(['apps', 'create', '--name', 'x'], own)
      assertRefused(outcome, /Cell us-3 .* 127\.0\.0\.1:1/)
      assert.doesNotMatch(outcome.stderr, /hush/)
    } finally {
      await dropDatabase(directory)
    }
  })

  test('refuses a cell whose password would go out without TLS', async () => {
    const directory = await cloneDatabase('directory')
    try {
      const url = 'postgres://me:hush@db.example.org/us-3?sslmode=disable'
      await insertCell(directory, 'us-3', url)
      const own = { ...env, LOQUAT_DIRECTORY_URL: directory }
      const outcome = await command(['serve'], own)
      assertRefused(outcome, /cell us-3 must have sslmode=verify-full/, /LOQUAT_PLAINTEXT_HOSTS/)
      assert.doesNotMatch(outcome.stderr, /hush/)
    } finally {
      await dropDatabase(directory)
    }
  })

  test('reports that cells were added with another secret', async () => {
    const other = { ...env, LOQUAT_SECRET: Buffer.alloc(32, 1).toString('base64') }
    assertRefused(await command(['serve'], other), /cell us-1 .* another LOQUAT_SECRET/)
  })
})

suite('serve', { concurrency: 3 }, () => {
  test('lists every missing setting', async () => {
    const missing = ['DIRECTORY_URL', 'NATS_URL', 'REDIS_URL', 'SECRET']
    const reasons = missing.map((name) => new RegExp(`LOQUAT_${name} is missing`))
    assertRefused(await loquat(['serve'], NOWHERE), ...reasons, /loquat dev/)
  })

  test('rejects an unknown role', async () => {
    const outcome = await command(['serve', '--roles', 'api,cook'], env)
    assertRefused(outcome, /Unknown role "cook"\. The roles are api, gateway, worker\./)
  })

  test('refuses the engines of loquat dev, unless told otherwise', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'loquat-engines-'))
    // This process stands for PostgreSQL.
    const postgres = { pid: process.pid, mark: 'node', url: directoryUrl }
    writeFileSync(join(dir, 'engines.json'), JSON.stringify({ engines: { postgres } }))
    const other = { LOQUAT_SECRET: Buffer.alloc(32, 1).toString('base64') }
    const own = { ...env, ...other, LOQUAT_ENGINES_DIR: dir }
    try {
      const refused = await command(['serve'], own)
      assertRefused(refused, /LOQUAT_DIRECTORY_URL points to the development engines/, /--dev/)
      const told = await command(['serve', '--development-engines'], own)
      assertRefused(told, /another LOQUAT_SECRET/)
    } finally {
      rmSync(dir, { recursive: true })
    }
  })

  test('finishes current requests on SIGTERM and exits with 0', async () => {
    const running = await startServing('api', env)
    const port = running.apiPort
    for (const path of ['live', 'ready']) {
      const answer = await fetch(`http://127.0.0.1:${port}/health/${path}`)
      assert.deepEqual([answer.status, await answer.json()], [200, { status: path }])
    }
    // No operation is slow, so a late body keeps a request open.
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    socket.write('POST /health/live HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n')
    socket.write('Content-Length: 2\r\nExpect: 100-continue\r\n\r\n')
    await once(socket, 'data') // the server waits for the body
    socket.write('{')
    running.signal('SIGTERM')
    await running.printed(/"draining"/)
    const health = () => fetch(`http://127.0.0.1:${port}/health/live`)
    while (await health().catch(() => undefined)) await running.printed(/"draining"/)
    await assert.rejects(health(), 'takes nothing new')
    socket.end('}')
    assert.match(await text(socket), /^HTTP\/1\.1 404 /)
    const { code, stderr } = await running.ended
    assert.equal(code, 0, stderr)
    assert.match(stderr, /"drained"/)
  })

  test('reports a port that is in use', async () => {
    const running = await startServing('api', env)
    const port = String(running.apiPort)
    const second = await loquat(['serve', '--roles', 'api'], { ...env, LOQUAT_PORT: port })
    assertRefused(second, new RegExp(`Port ${port} is in use. Set LOQUAT_PORT`))
    assert.equal((await running.end()).code, 0)
  })
})

suite('jobs', () => {
  test('lists the jobs of all apps and of the cells, cancels and retries them', async () => {
    const { appId } = await createApp()
    const text = `select enqueue_job(app_no, 'test.none', '{}', '1 hour') as id from apps where app_id = $1`
    const id = String((await queryAt(cellUrl, text, [appId])).rows[0].id)
    const own = `select enqueue_job(0, 'test.cell', '{}', '1 hour') as id`
    const cellJob = String((await queryAt(cellUrl, own)).rows[0].id)
    const listed = async (...flags: string[]) =>
      JSON.parse((await command(['jobs', 'list', '--json', ...flags], env)).stdout) as {
        id: string
        app: string | null
        state: string
      }[]
    const found = (await listed()).filter((job) => [id, cellJob].includes(job.id))
    assert.deepEqual(
      found.map(({ app, state }) => [app, state]),
      [
        [null, 'waiting'],
        [appId, 'waiting'],
      ],
    )
    const change = async (...args: string[]) => (await command(['jobs', ...args], env)).stdout
    assert.equal(await change('cancel', appId, id), `Job ${id} is cancelled.\n`)
    assert.equal(await change('cancel', 'us-1', cellJob), `Job ${cellJob} is cancelled.\n`)
    assert.deepEqual(
      (await listed('--app', appId, '--state', 'cancelled')).map((job) => job.id),
      [id],
    )
    assert.equal(await change('retry', appId, id), `Job ${id} is ready.\n`)
    assert.match((await command(['jobs', 'list'], env)).stdout, /^CELL +APP +JOB +NAME/)
    assertRefused(await command(['jobs', 'cancel', appId, '1'], env), /has no job 1/)
    assertRefused(await command(['jobs', 'cancel', 'nowhere', id], env), /no app "nowhere"/)
  })
})
