import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { writeNewFile } from './output-file.ts'

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-output-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

async function* twice(text: string, between: () => Promise<void> = async () => {}) {
  yield Buffer.from(text)
  await between()
  yield Buffer.from(text)
  return text
}

const never = (): boolean => false

describe('a file that a command writes', () => {
  it('is whole if two commands write to one name: the first to end has it, the other fails', async (t) => {
    const folder = folderOf(t)
    const file = join(folder, 'backup')
    let second: Promise<string> | undefined
    const first = writeNewFile(
      file,
      twice('first', async () => {
        second = writeNewFile(file, twice('another'), never)
        await second
      }),
      never,
    )
    await assert.rejects(first, /exists already/)
    assert.equal(await second, 'another')
    assert.equal(readFileSync(file, 'utf8'), 'anotheranother')
    assert.deepEqual(readdirSync(folder), ['backup'])
  })

  it('is private, whatever file or link is there before', { skip: process.platform === 'win32' }, async (t) => {
    const folder = folderOf(t)
    const file = join(folder, 'backup')
    writeFileSync(join(folder, 'other'), '', { mode: 0o644 })
    symlinkSync(join(folder, 'other'), `${file}.partial`)
    await writeNewFile(file, twice('secret'), never)
    assert.equal(statSync(file).mode & 0o777, 0o600)
    assert.equal(readFileSync(join(folder, 'other'), 'utf8'), '')
    symlinkSync(join(folder, 'nowhere'), join(folder, 'link'))
    await assert.rejects(
      writeNewFile(join(folder, 'link'), twice('secret'), never),
      /exists already: choose another name\.$/,
    )
    await assert.rejects(
      writeNewFile(join(folder, 'nowhere', 'y'), twice('secret'), never),
      /nowhere\/y cannot be written \(ENOENT: [^)]+\): name a file in a folder that exists/,
    )
    await assert.rejects(writeNewFile(folder, twice('secret'), never), /is a directory: name a file in it\.$/)
  })

  it('does not get its name if the process is killed', async (t) => {
    const folder = folderOf(t)
    const file = join(folder, 'backup')
    const program = `
      import { writeNewFile } from ${JSON.stringify(new URL('output-file.ts', import.meta.url).href)}
      async function* pieces() {
        yield Buffer.from('the start')
        console.log('started')
        await new Promise(() => setInterval(() => {}, 1_000))
      }
      await writeNewFile(${JSON.stringify(file)}, pieces(), () => false)`
    const child = spawn(process.execPath, ['--conditions=parley-source', '--input-type=module', '-e', program])
    await once(child.stdout, 'data')
    child.kill('SIGKILL')
    await once(child, 'close')
    assert.equal(existsSync(file), false)
    assert.match(readdirSync(folder).join(), /^backup\.[0-9a-f]{8}\.partial$/)
    await writeNewFile(file, twice('again'), never)
    assert.equal(readFileSync(file, 'utf8'), 'againagain')
  })
})
