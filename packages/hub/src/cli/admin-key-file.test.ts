import assert from 'node:assert/strict'
import { chmod, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { generateKey } from '../auth/key-format.ts'
import { readAdminKey, reusableAdminKey, showAdminKey, storeAdminKey } from './admin-key-file.ts'
import { createTestTerminal } from './testing/test-terminal.ts'

const { key } = generateKey('pka')
const signInPath = '/#code=once'

async function newFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-key-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** `valid`: the key of the store. */
async function show(
  dataDir: string,
  { created, valid = created, configured }: { created?: string; valid?: string; configured?: string },
  isOutputTerminal = false,
) {
  const terminal = { ...createTestTerminal(), isOutputTerminal }
  const hub = {
    ...(created === undefined ? {} : { newAdminKey: created }),
    signInPath: async (one: string) => (one === valid ? signInPath : undefined),
  }
  const admin = { console: true, previousKeys: [], ...(configured === undefined ? {} : { key: configured }) }
  // As the hub does when it has created the key.
  if (created !== undefined) await storeAdminKey(dataDir, created, terminal)
  const path = await showAdminKey(hub, { admin, dataDir }, terminal, 'parley key rotate admin --data dd')
  return { path, terminal, lines: [...terminal.printed, ...terminal.errors] }
}

describe('the admin key of the first start', () => {
  for (const isTerminal of [true, false])
    it(`goes to a file of its owner, and is not printed ${isTerminal ? 'on' : 'without'} a terminal`, async (t) => {
      const dataDir = join(await newFolder(t), 'data')
      const before = process.umask(0)
      t.after(() => process.umask(before))
      const { path, lines } = await show(dataDir, { created: key }, isTerminal)
      const file = join(dataDir, 'parley.admin-key')
      assert.deepEqual(lines, ['', `The admin key is in ${file}`])
      assert.equal(path, signInPath)
      assert.equal(await readAdminKey(dataDir), key)
      assert.equal((await stat(file)).mode & 0o777, 0o600)
      assert.equal((await stat(dataDir)).mode & 0o777, 0o700)
    })

  it('is where the second start says', async (t) => {
    const folder = await newFolder(t)
    await show(folder, { created: key })
    const { path, lines } = await show(folder, { valid: key })
    assert.deepEqual(lines, ['', `The admin key is in ${join(folder, 'parley.admin-key')}`])
    assert.equal(path, signInPath)
  })

  for (const [what, other] of [
    ['the file was deleted', undefined],
    ['the file has another key', generateKey('pka').key],
  ] as const)
    it(`is not invented again if ${what}: the hub says how to get another`, async (t) => {
      const folder = await newFolder(t)
      if (other !== undefined) await show(folder, { created: other })
      const { path, lines } = await show(folder, { valid: key })
      assert.match(
        lines.join(),
        /is still valid, but not in .*parley\.admin-key\. .*parley key rotate admin --data dd`/,
      )
      assert.equal(path, undefined)
      assert.equal(await readAdminKey(folder), other)
    })

  it('is in no file if the configuration sets it', async (t) => {
    const folder = await newFolder(t)
    const { path, lines } = await show(folder, { configured: 'a key of the operator', valid: 'a key of the operator' })
    assert.deepEqual(lines, ['', 'The admin key is that of `admin.key` of the configuration'])
    assert.equal(path, signInPath)
    assert.equal(await readAdminKey(folder), undefined)
  })

  it('is named with its place if the file of an earlier start has another one', async (t) => {
    const folder = await newFolder(t)
    await show(folder, { created: key })
    const { lines } = await show(folder, { configured: 'a key of the operator', valid: 'a key of the operator' })
    assert.match(
      lines.join(),
      /is that of `admin\.key` of the configuration, not the one in \S+admin-key: remove that file/,
    )
  })

  it('does not follow a link, and is not written into a file that others can read', async (t) => {
    const folder = await newFolder(t)
    const target = join(folder, 'public')
    await writeFile(target, 'theirs', { mode: 0o644 })
    await symlink(target, join(folder, 'parley.admin-key'))
    await show(folder, { created: key })
    assert.equal(await readFile(target, 'utf8'), 'theirs')
    assert.equal((await stat(join(folder, 'parley.admin-key'))).mode & 0o777, 0o600)
  })

  it('is not printed if the file cannot be written', async (t) => {
    const file = join(await newFolder(t), 'file')
    await writeFile(file, '')
    const { path, lines } = await show(file, { created: key })
    assert.match(lines.join(), /could not be written to .* PARLEY_ADMIN_KEY/)
    assert.ok(!lines.some((line) => line.includes(key)))
    assert.equal(path, undefined)
  })

  it('is also that of another store in the directory, unless another user could have written the file', async (t) => {
    const folder = await newFolder(t)
    const file = join(folder, 'parley.admin-key')
    assert.equal(await reusableAdminKey(folder), undefined)
    await show(folder, { created: key })
    assert.equal(await reusableAdminKey(folder), key)
    await chmod(file, 0o644)
    assert.equal(await reusableAdminKey(folder), undefined)
    await writeFile(file, 'not a key of the hub\n')
    await chmod(file, 0o600)
    assert.equal(await reusableAdminKey(folder), undefined)
  })

  it('is reported as unreadable, not as missing', async (t) => {
    const folder = await newFolder(t)
    // As root, no file is unreadable by its mode.
    await symlink('parley.admin-key', join(folder, 'parley.admin-key'))
    await assert.rejects(readAdminKey(folder), /cannot be read: ELOOP.*Run the command as the user of the hub/)
  })
})
