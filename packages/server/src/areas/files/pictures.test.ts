import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import sharp from 'sharp'
import { tokenOf } from '../../../test/device.ts'
import { refused, type TestApp, useServer } from '../../../test/kit.ts'
import { rows } from '../../../test/log-writers.ts'
import { noise, svgScript } from '../../../test/media.ts'
import { until } from '../../../test/until.ts'
import { checked, describe, readyFile, sweepFiles, upload } from '../../../test/upload.ts'
import { restrainApp } from '../apps/restrain.actions.ts'

const server = useServer({ roles: ['api', 'worker'] })

type Client = TestApp['client']

const image = { name: 'me.png', mimeType: 'image/png', picture: true }
const png = () => noise(300, 200).png().toBuffer()
const pathOf = (id: string) => `/v3/files/${id}`

const newPicture = async (app: TestApp, client: Client, more: object = {}) =>
  readyFile(app, client, await png(), { ...image, ...more })

/** The ids of the app's files that aren't being deleted, with their references. */
async function refs({ cell, no }: TestApp): Promise<Record<string, number>> {
  const text = `select id, refs from files where app_no = $1 and state <> 'deleting'`
  const found = await rows<{ id: string; refs: number }>(cell.db, text, [no])
  return Object.fromEntries(found.map((row) => [row.id, row.refs]))
}

const isShown = async (app: TestApp, url: string) => (await app.fetchFile(url)).status === 200

suite('pictures of users', () => {
  test('are public, square and cacheable', async () => {
    const app = await server.newApp()
    const [amira] = await app.users('amira')
    const id = await newPicture(app, amira)
    const { avatar = '' } = await amira.users.update('amira', { avatar: pathOf(id) })
    assert.ok(avatar.endsWith(`/pictures/${app.id}/${id}`), avatar)
    assert.equal((await app.client.users.get('amira')).avatar, avatar)
    const answer = await app.fetchFile(avatar)
    const { width, height, format } = await sharp(await answer.arrayBuffer()).metadata()
    assert.deepEqual([width, height, format], [200, 200, 'webp'])
    const header = (name: string) => answer.headers.get(name) ?? ''
    assert.equal(header('content-type'), 'image/webp')
    assert.match(header('cache-control'), /^public, max-age=\d{7,}, immutable$/)
    assert.equal(header('x-content-type-options'), 'nosniff')
    assert.match(header('content-security-policy'), /^sandbox/)
    const headers = { 'if-none-match': header('etag') }
    const again = await app.fetchFile(avatar, { headers })
    assert.deepEqual([again.status, await again.text()], [304, ''])
    const head = await app.fetchFile(avatar, { method: 'HEAD' })
    assert.deepEqual([head.status, Number(head.headers.get('content-length')) > 0], [200, true])
  })

  test('stay as long as something refers to them', async () => {
    const app = await server.newApp()
    const [amira] = await app.users('amira')
    const [one, two] = [await newPicture(app, amira), await newPicture(app, amira)]
    const { avatar = '' } = await amira.users.update('amira', { avatar: pathOf(one) })
    assert.deepEqual(await refs(app), { [one]: 1, [two]: 0 })
    await refused(amira.files.delete(one), 'ERR_FILE_IN_USE')
    // A program that saves the whole record changes nothing, and neither does one that leaves it out.
    await app.client.users.update('amira', { avatar, name: 'Amira' })
    await amira.users.update('amira', { statusMessage: 'Away' })
    assert.equal((await app.client.users.get('amira')).avatar, avatar)
    assert.deepEqual(await refs(app), { [one]: 1, [two]: 0 })
    await app.client.users.create({ uid: 'twin', name: 'Twin', avatar: pathOf(one) })
    assert.deepEqual(await refs(app), { [one]: 2, [two]: 0 })
    await amira.users.update('amira', { avatar: pathOf(two) })
    await sweepFiles(app)
    assert.deepEqual(await refs(app), { [one]: 1, [two]: 1 })
    await app.client.users.delete('twin', { permanent: true })
    await sweepFiles(app)
    assert.deepEqual([await refs(app), await isShown(app, avatar)], [{ [two]: 1 }, false])
    await amira.users.update('amira', { avatar: 'https://example.com/me.png' })
    await sweepFiles(app)
    assert.deepEqual(await refs(app), {})
    const last = await newPicture(app, amira)
    await amira.users.update('amira', { avatar: pathOf(last) })
    await amira.users.update('amira', { avatar: null })
    await sweepFiles(app)
    assert.deepEqual([await refs(app), await server.deps.files?.list(app.id)], [{}, new Map()])
  })

  test('are refused unless they are ready, and uploaded as pictures by the same user', async () => {
    const [app, other] = [await server.newApp(), await server.newApp()]
    const [amira, ben] = await app.users('amira', 'ben')
    const token = await tokenOf(app, 'amira')
    const set = (avatar: string) =>
      app.call('PUT', '/v3/users/amira', {
        ...{ apiKey: null, headers: { authToken: token } },
        body: { avatar },
      })
    const pending = await amira.files.create(describe(await png(), image))
    await refused(set(pathOf(pending.id)), 'ERR_FILE_NOT_READY')
    const foreign = pathOf(await newPicture(other, other.client))
    for (const path of [pathOf(await newPicture(app, ben)), foreign, pathOf('x')]) {
      await refused(set(path), 'ERR_FILE_NOT_FOUND')
    }
    await refused(app.client.users.update('amira', { avatar: foreign }), 'ERR_FILE_NOT_FOUND')
    const plain = await newPicture(app, amira, { picture: false })
    await refused(set(pathOf(plain)), 'ERR_FILE_NOT_PICTURE')
    for (const avatar of ['/v3/users', 'javascript:alert(1)', 'me.png']) {
      await refused(set(avatar), 'ERR_BAD_REQUEST')
    }
    assert.equal((await set(pathOf(await newPicture(app, amira)))).status, 200)
    // A URL of ours counts like the path.
    const theirs = await newPicture(app, ben)
    const { avatar = '' } = await ben.users.update('ben', { avatar: pathOf(theirs) })
    await refused(set(avatar), 'ERR_FILE_NOT_FOUND')
    await app.client.users.update('amira', { avatar })
    assert.equal((await refs(app))[theirs], 2)
    assert.equal((await amira.users.get('amira')).avatar, avatar)
  })

  test('are images', async () => {
    const app = await server.newApp()
    const body = { ...describe(Buffer.from('Hello')), picture: true }
    await refused(app.call('POST', '/v3/files', { body }), 'ERR_BAD_REQUEST')
    for (const bytes of [Buffer.from('Hello'), svgScript('alert(1)')]) {
      const id = await upload(app, app.client, bytes, { ...image, mimeType: 'image/svg+xml' })
      const { status, reason } = await checked(app.client, id)
      assert.deepEqual([status, reason], ['rejected', 'type'])
      const { status: shown } = await app.fetchFile(`http://localhost/pictures/${app.id}/${id}`)
      assert.equal(shown, 404)
    }
  })

  test('are the only files that everybody can read', async () => {
    const [app, other] = [await server.newApp(), await server.newApp()]
    const plain = await newPicture(app, app.client, { picture: false })
    const id = await newPicture(app, app.client)
    const urls = [
      [app.id, plain],
      [other.id, id],
      ['0'.repeat(16), id],
      [app.id, 'x'],
      [app.id, '..'],
    ]
    for (const path of urls) {
      const { status } = await app.fetchFile(`http://localhost/pictures/${path.join('/')}`)
      assert.equal(status, 404, path.join('/'))
    }
    const url = `http://localhost/pictures/${app.id}/${id}`
    assert.ok(await isShown(app, url))
    await restrainApp(server.deps, app, 'suspendApp', { suspended: true })
    await until('the app is suspended', async () => !(await isShown(app, url)))
  })
})

suite('icons of groups', () => {
  test('stay with the group, whoever uploaded them', async () => {
    const app = await server.newApp()
    const [amira, ben] = await app.users('amira', 'ben')
    const [one, two] = [await newPicture(app, amira), await newPicture(app, amira)]
    const { icon = '' } = await amira.groups.create({
      guid: 'team',
      name: 'Team',
      icon: pathOf(one),
    })
    assert.ok(icon.endsWith(`/pictures/${app.id}/${one}`), icon)
    await app.client.groups.update('team', { icon: pathOf(two) })
    await sweepFiles(app)
    assert.deepEqual(await refs(app), { [two]: 1 })
    await app.client.groupMembers.add('team', { admins: ['ben'] })
    const { icon: now = '' } = await ben.groups.get('team')
    await ben.groups.update('team', { name: 'The team', icon: now })
    await refused(ben.groups.update('team', { icon: pathOf(one) }), 'ERR_FILE_NOT_FOUND')
    await app.client.users.delete('amira', { permanent: true })
    await sweepFiles(app)
    assert.deepEqual([await refs(app), await isShown(app, now)], [{ [two]: 1 }, true])
    await app.client.groups.delete('team')
    await until('the group is gone', async () => {
      const text = 'select from groups where app_no = $1'
      return (await rows(app.cell.db, text, [app.no])).length === 0
    })
    await sweepFiles(app)
    assert.deepEqual([await refs(app), await isShown(app, now)], [{}, false])
  })
})
