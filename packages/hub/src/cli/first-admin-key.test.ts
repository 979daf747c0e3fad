import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { readAdminKey, showAdminKey } from './first-admin-key.ts'
import { createTestTerminal } from './testing/test-terminal.ts'

const key = 'pka_the_key'

async function newFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-key-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}

describe('the first admin key', () => {
  it('is shown to a person at a terminal, and written nowhere', async (t) => {
    const folder = await newFolder(t)
    const terminal = { ...createTestTerminal(), isOutputTerminal: true }
    await showAdminKey(key, folder, terminal)
    assert.ok(terminal.printed.includes(`The admin key is ${key}`))
    assert.equal(await readAdminKey(folder), undefined)
  })

  it('goes to a file of its owner where what is said may be a log', async (t) => {
    const dataDir = join(await newFolder(t), 'data')
    const before = process.umask(0)
    t.after(() => process.umask(before))
    const terminal = createTestTerminal()
    await showAdminKey(key, dataDir, terminal)
    const file = join(dataDir, 'parley.admin-key')
    assert.ok(terminal.printed.includes(`The admin key is in ${file}`))
    assert.ok(![...terminal.printed, ...terminal.errors].some((line) => line.includes(key)))
    assert.equal(await readAdminKey(dataDir), key)
    assert.equal((await stat(file)).mode & 0o777, 0o600)
    assert.equal((await stat(dataDir)).mode & 0o777, 0o700)
  })

  it('does not follow a link, and is not written into a file that others can read', async (t) => {
    const folder = await newFolder(t)
    const target = join(folder, 'public')
    await writeFile(target, 'theirs', { mode: 0o644 })
    await symlink(target, join(folder, 'parley.admin-key'))
    await showAdminKey(key, folder, createTestTerminal())
    assert.equal(await readFile(target, 'utf8'), 'theirs')
    assert.equal((await stat(join(folder, 'parley.admin-key'))).mode & 0o777, 0o600)
  })

  it('is not printed if the file cannot be written', async (t) => {
    const file = join(await newFolder(t), 'file')
    await writeFile(file, '')
    const terminal = createTestTerminal()
    await showAdminKey(key, file, terminal)
    assert.match(terminal.errors.join(), /could not be written to .* PARLEY_ADMIN_KEY/)
    assert.ok(![...terminal.printed, ...terminal.errors].some((line) => line.includes(key)))
  })
})
