import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { FolderDriver } from './folder.ts'

suite('a folder of files', () => {
  test('is listed although some of its files vanish meanwhile', async (t) => {
    const root = await mkdtemp(join(tmpdir(), 'folder-'))
    t.after(() => rm(root, { recursive: true }))
    const driver = new FolderDriver({
      root,
      origin: 'http://127.0.0.1',
      keys: [Buffer.from('key')],
    })
    const fill = async (id: string) => {
      const folder = join(root, 'app', id, 'upload')
      await mkdir(folder, { recursive: true })
      for (let part = 1; part <= 5; part++) await writeFile(join(folder, `${part}`), 'abc')
    }
    await fill('kept')
    const kept = await driver.list('app/kept')
    assert.deepEqual(
      [...kept],
      [1, 2, 3, 4, 5].map((part) => [`app/kept/upload/${part}`, 3]),
    )
    let done = false
    const changes = ['a', 'b'].map(async (id) => {
      while (!done) {
        await fill(id)
        await driver.removeAll(`app/${id}`)
      }
    })
    try {
      for (let round = 0; round < 200; round++) {
        const listed = await driver.list('app')
        for (const key of kept.keys()) assert.equal(listed.get(key), 3)
      }
    } finally {
      done = true
      await Promise.all(changes)
    }
  })
})
