import assert from 'node:assert/strict'
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { agentKinds } from '../agents/kinds.ts'
import { fileSource } from './config-source.ts'

function newFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-source-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

function open(t: TestContext, text?: string, cwd = newFolder(t), wait?: () => Promise<void>) {
  if (text !== undefined) writeFileSync(join(cwd, 'parley.yaml'), text)
  const fallback = { agents: { echo: { kind: 'demo', agent: 'echo' } } }
  const file = text === undefined ? {} : { file: 'parley.yaml' }
  return fileSource({ ...file, fallback, environment: {}, cwd, kinds: agentKinds }, undefined, wait)
}

const echoText = 'agents: { x: { kind: demo, agent: echo } }\n'

describe('the file of a configuration', () => {
  it('is made by the first change where there was none, for its owner alone', async (t) => {
    const source = open(t)
    assert.equal(source.read(), 'agents:\n  echo:\n    kind: demo\n    agent: echo\n')
    assert.equal(existsSync(source.file), false)
    assert.equal(await source.write('agents: { echo: { kind: demo, agent: echo } }\n', source.read()), true)
    assert.equal(statSync(source.file).mode & 0o777, 0o600)
    assert.match(source.read(), /^agents: \{/)
  })

  it('stays as open as it was, and nothing else is left beside it', async (t) => {
    const source = open(t, 'agents: {}\n')
    // The umask must not cut it, and a file of a person with such a name must stay.
    writeFileSync(`${source.file}.new`, 'a draft')
    utimesSync(`${source.file}.new`, 0, 0)
    chmodSync(source.file, 0o666)
    await source.write('agents: { x: { kind: demo } }\n', source.read())
    assert.equal(statSync(source.file).mode & 0o777, 0o666)
    assert.deepEqual(readdirSync(join(source.file, '..')), ['parley.yaml', 'parley.yaml.new'])
    assert.equal(readFileSync(`${source.file}.new`, 'utf8'), 'a draft')
  })

  it('keeps its owner when root changes it', { skip: process.getuid?.() !== 0 }, async (t) => {
    const source = open(t, 'agents: {}\n')
    chownSync(source.file, 1234, 2345)
    await source.write(echoText, source.read())
    const { uid, gid } = statSync(source.file)
    assert.deepEqual([uid, gid], [1234, 2345])
  })

  it('is tried before it counts, with what else is said to the hub', async (t) => {
    const source = open(t, 'agents: {}\n')
    assert.ok('problems' in (await source.load('agents: { x: { kind: demmo } }')))
    const loaded = await source.load(echoText)
    assert.ok('config' in loaded && loaded.config.file === source.file)
    assert.equal(source.read(), 'agents: {}\n')
  })

  it('is not replaced if another writer has changed it since it was read', async (t) => {
    const source = open(t, 'agents: {}\n')
    const before = source.read()
    writeFileSync(source.file, '# by an editor\nagents: {}\n')
    assert.equal(await source.write(echoText, before), false)
    assert.equal(source.read(), '# by an editor\nagents: {}\n')
    assert.deepEqual(readdirSync(join(source.file, '..')), ['parley.yaml'])
  })

  it('keeps the changes of all writers that write at the same time', async (t) => {
    const cwd = newFolder(t)
    const names = Array.from({ length: 20 }, (_, index) => `# ${index}\n`)
    await Promise.all(
      names.map(async (line) => {
        const source = open(t, undefined, cwd)
        for (;;) {
          const before = source.read()
          // Other writers run here, between the read and the write.
          await new Promise(setImmediate)
          if (await source.write(before + line, before)) return
        }
      }),
    )
    const written = readFileSync(join(cwd, 'parley.yaml'), 'utf8').split(/(?<=\n)/)
    assert.deepEqual(written.slice(-20).toSorted(), names.toSorted())
  })

  it('waits for a writer that has begun, but not for one that was killed', async (t) => {
    const source = open(t, 'agents: {}\n')
    const lock = `${source.file}.lock`
    writeFileSync(lock, '')
    // Never too old, however long the machine stands still.
    utimesSync(lock, 4e9, 4e9)
    let isWritten = false
    const writing = source.write(echoText, source.read()).then(() => (isWritten = true))
    await new Promise(setImmediate)
    assert.equal(isWritten, false)
    rmSync(lock)
    await writing
    writeFileSync(lock, 'half of a te')
    utimesSync(lock, 0, 0)
    assert.equal(await source.write('agents: {}\n', source.read()), true)
    assert.equal(source.read(), 'agents: {}\n')
  })

  it('is left alone by a writer whose lock another one has taken', async (t) => {
    const source = open(t, 'agents: {}\n')
    const before = source.read()
    const lock = `${source.file}.lock`
    // The lock is held now, and the file is replaced in a later microtask, as by a process that stood still in between.
    const writing = source.write(echoText, before)
    writeFileSync(lock, 'another writer')
    assert.equal(await writing, false)
    assert.equal(source.read(), before)
    assert.equal(readFileSync(lock, 'utf8'), 'another writer')
  })

  it('is not written if the lock cannot be taken, and the error names the lock', async (t) => {
    let waits = 0
    const cwd = newFolder(t)
    const source = open(t, 'agents: {}\n', cwd, async () => void (waits += 1))
    symlinkSync(join(cwd, 'nowhere'), `${source.file}.lock`)
    await assert.rejects(source.write(echoText, source.read()), {
      name: 'LockedConfigError',
      message: `${source.file}.lock keeps the configuration locked: remove it if no other program is writing`,
    })
    assert.equal(waits, 1_500)
    assert.equal(source.read(), 'agents: {}\n')
  })

  it('is named in one sentence if it is a folder', async (t) => {
    const source = open(t)
    mkdirSync(source.file)
    const message = `${source.file} cannot be read: it is a folder: a file is needed there`
    assert.throws(() => source.read(), { name: 'UnreadableConfigError', message })
  })

  it('stays a link if it is one', async (t) => {
    const cwd = newFolder(t)
    writeFileSync(join(cwd, 'dotfile'), 'agents: {}\n')
    symlinkSync(join(cwd, 'dotfile'), join(cwd, 'parley.yaml'))
    const source = open(t, undefined, cwd)
    await source.write(echoText, source.read())
    assert.ok(lstatSync(join(cwd, 'parley.yaml')).isSymbolicLink())
    assert.equal(readFileSync(join(cwd, 'dotfile'), 'utf8'), echoText)
    rmSync(join(cwd, 'dotfile'))
    await source.write('agents: {}\n', source.read())
    assert.ok(lstatSync(join(cwd, 'parley.yaml')).isSymbolicLink())
    assert.equal(readFileSync(join(cwd, 'dotfile'), 'utf8'), 'agents: {}\n')
  })

  it('is the default name that exists at the time', async (t) => {
    const source = open(t)
    const folder = join(source.file, '..')
    assert.deepEqual(
      source.places.map((place) => place.slice(folder.length + 1)),
      ['parley.yaml', 'parley.yml', 'parley.json'],
    )
    assert.equal(source.file, join(folder, 'parley.yaml'))
    writeFileSync(join(folder, 'parley.json'), '{}')
    assert.equal(source.file, join(folder, 'parley.json'))
    assert.equal(source.read(), '{}')
    writeFileSync(join(folder, 'parley.yml'), echoText)
    assert.equal(source.read(), echoText)
  })

  it('is remembered as it was last valid when it is removed', async (t) => {
    const source = open(t)
    const file = join(source.file, '../parley.yml')
    writeFileSync(file, echoText)
    await source.load(source.read())
    writeFileSync(file, 'agents: [')
    await source.load(source.read())
    rmSync(file)
    assert.equal(source.read(), echoText)
    assert.equal(source.file, file)
    await source.write(`${source.read()}# more\n`, source.read())
    assert.equal(readFileSync(file, 'utf8'), `${echoText}# more\n`)
  })
})
