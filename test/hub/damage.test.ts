/** How a hub handles damaged files, a wrong master key and files that other users may read. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { chmod, chown, mkdir, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { call1_0 } from './raw-calls.ts'
import { newFolder, runParley, startHub } from './running-hub.ts'

// Child processes inherit the umask: they create files that every user may read, unless they set a mode.
process.umask(0)

const options = { timeout: 300_000 }
const config = 'agents: { echo: { kind: demo, agent: echo } }\n'
const isRoot = process.getuid?.() === 0

/** A folder of a hub that accepted a message and was killed. */
async function killedHub(): Promise<{ readonly folder: string; readonly database: string }> {
  const folder = await newFolder({ 'parley.yaml': config })
  const hub = await startHub(folder)
  for (let n = 0; n < 5; n += 1) await call1_0(`${hub.url}/a2a/echo`, `message ${n}`)
  hub.signal('SIGKILL')
  await hub.stop()
  return { folder, database: join(folder, '.parley', 'parley.db') }
}

const up = ['up', '--port', '0', '--grpc-port', '0']

async function modesIn(directory: string): Promise<Readonly<Record<string, string>>> {
  const names = ['.', ...(await readdir(directory))].sort()
  const modes = names.map(async (name) => [name, ((await stat(join(directory, name))).mode & 0o777).toString(8)])
  return Object.fromEntries(await Promise.all(modes))
}

describe('a hub whose database lost acknowledged writes', options, () => {
  it('reports in one sentence what is missing, and starts only if the operator accepts the loss [full]', async () => {
    const { folder, database } = await killedHub()
    await truncate(`${database}-wal`, 0)
    const { code, lines } = await runParley(folder, up)
    assert.equal(code, 1)
    assert.match(
      lines.join('\n'),
      /^store: \S+parley\.db has lost its last \d+ writes \(positions \d+ to \d+\), made .*until \S+Z\. Restore a backup, or start with --accept-loss .*$/,
    )
    const hub = await startHub(folder, ['--accept-loss'])
    await hub.waitForLine(/the loss was accepted/)
    await call1_0(`${hub.url}/a2a/echo`, 'again')
    await hub.stop()
    assert.equal((await (await startHub(folder)).stop()).code, 0)
  })

  it('starts without an error after a kill, and has checked the database', async () => {
    const { folder } = await killedHub()
    const hub = await startHub(folder)
    await hub.waitForLine(/was checked after an unclean shutdown/)
    const { lines } = await hub.stop()
    assert.doesNotMatch(lines.join('\n'), /lost|damaged/)
  })
})

describe('a hub with a wrong master key', options, () => {
  it('refuses to start with one sentence, with SQLite, and does not replace a lost key', async () => {
    const folder = await newFolder({ 'parley.yaml': config })
    await (await startHub(folder)).stop()
    const file = join(folder, '.parley', 'parley.db.key')
    const right = await readFile(file)
    await writeFile(file, `${randomBytes(32).toString('base64')}\n`)
    const wrong = await runParley(folder, up)
    assert.equal(wrong.code, 1)
    assert.match(
      wrong.lines.join('\n'),
      /^masterKey: The key \S+ in the store was wrapped by a different master key.*$/,
    )
    await rm(file)
    const lost = await runParley(folder, up)
    assert.equal(lost.code, 1)
    assert.match(lost.lines.join('\n'), /^masterKey: \S+parley\.db\.key is missing, .*Restore the file\.$/)
    await writeFile(file, right)
    assert.equal((await (await startHub(folder)).stop()).code, 0)
  })
})

describe('the files of a hub', options, () => {
  it('are readable by their owner only, whatever the umask', async () => {
    const { folder } = await killedHub()
    assert.deepEqual(await modesIn(join(folder, '.parley')), {
      '.': '700',
      '.gitignore': '600',
      'parley.address': '600',
      'parley.admin-key': '600',
      'parley.db': '600',
      'parley.db-mark': '600',
      'parley.db-shm': '600',
      'parley.db-wal': '600',
      'parley.db.key': '600',
      'parley.db.lock': '600',
      'parley.db.lock-journal': '600',
    })
  })

  it('stay so after a restart, without a warning [full]', async () => {
    const folder = await newFolder({ 'parley.yaml': config })
    const first = await startHub(folder)
    await first.adminKey()
    assert.equal((await first.stop()).code, 0)
    const second = await startHub(folder)
    const modes = await modesIn(join(folder, '.parley'))
    const { code, lines } = await second.stop()
    assert.equal(code, 0)
    assert.deepEqual(
      new Set(Object.entries(modes).map(([name, mode]) => (name === '.' ? `directory ${mode}` : mode))),
      new Set(['directory 700', '600']),
    )
    assert.ok('parley.admin-key' in modes)
    assert.deepEqual(
      [...first.lines, ...lines].filter((line) => /warn|other users|chmod/i.test(line)),
      [],
    )
  })

  it('are restricted if an earlier version or a copy left them open [full]', async () => {
    const { folder } = await killedHub()
    const directory = join(folder, '.parley')
    for (const name of await readdir(directory)) await chmod(join(directory, name), 0o644)
    await chmod(directory, 0o755)
    const hub = await startHub(folder)
    // It says nothing of the hub.
    const { '.gitignore': _, ...modes } = await modesIn(directory)
    await hub.stop()
    assert.equal(modes['.'], '700')
    assert.ok('parley.admin-key' in modes)
    assert.deepEqual(new Set(Object.values(modes)), new Set(['700', '600']))
  })

  it('stay in a directory with other content, with a warning', async () => {
    const folder = await newFolder({ 'parley.yaml': config })
    const data = join(folder, 'shared')
    await mkdir(data, { mode: 0o755 })
    await writeFile(join(data, 'of-another-program'), '')
    const hub = await startHub(folder, ['--data', data])
    await hub.waitForLine(/data directory may be readable by other users.*chmod 700/)
    const modes = await modesIn(data)
    await hub.stop()
    assert.deepEqual([modes['.'], modes['parley.db'], modes['of-another-program']], ['755', '600', '666'])
  })

  it(
    'of another user are not changed, with a warning and no failure [full]',
    { skip: isRoot ? false : 'only root can make files of another user' },
    async () => {
      const folder = await newFolder({ 'parley.yaml': config })
      await (await startHub(folder)).stop()
      const directory = join(folder, '.parley')
      for (const path of [directory, join(directory, 'parley.db'), join(directory, 'parley.db.key')]) {
        await chown(path, 65_534, 65_534)
        await chmod(path, path === directory ? 0o755 : 0o644)
      }
      const hub = await startHub(folder)
      await hub.waitForLine(/data directory may be readable by other users/)
      await hub.waitForLine(/other users may be able to read files of the store/)
      const modes = await modesIn(directory)
      await hub.stop()
      assert.deepEqual([modes['.'], modes['parley.db'], modes['parley.db.key']], ['755', '644', '644'])
    },
  )
})
