import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { createFileMethods } from './files.ts'

describe('the files of a session', () => {
  const base = mkdtempSync(join(tmpdir(), 'acp-files-'))
  after(() => rmSync(base, { recursive: true }))
  const home = join(base, 'home')
  mkdirSync(join(home, 'in'), { recursive: true })
  writeFileSync(join(home, 'in/a.txt'), 'one\ntwo\nthree')
  writeFileSync(join(base, 'outside.txt'), 'secret')
  mkdirSync(join(base, 'home-of-another'))
  symlinkSync(base, join(home, 'up'))
  const { read, write } = createFileMethods((id) => (id === 's' ? home : undefined), 100)
  const at = (path: string) => ({ sessionId: 's', path })

  it('are read as a whole or by lines', async () => {
    const path = join(home, 'in/a.txt')
    assert.equal((await read(at(path))).content, 'one\ntwo\nthree')
    assert.equal((await read({ ...at(path), line: 2 })).content, 'two\nthree')
    assert.equal((await read({ ...at(path), line: 2, limit: 1 })).content, 'two')
    assert.equal((await read({ ...at(path), limit: 1 })).content, 'one')
  })

  it('are written, with the folders that are missing', async () => {
    await write({ ...at(join(home, 'new/deep/b.txt')), content: 'b' })
    assert.equal(readFileSync(join(home, 'new/deep/b.txt'), 'utf8'), 'b')
  })

  it('are below its folder and nowhere else, by whichever way', async () => {
    const elsewhere = ['outside.txt', 'home/../outside.txt', 'home/up/outside.txt', 'home-of-another/x', 'home']
    for (const path of elsewhere.map((each) => join(base, each))) {
      await assert.rejects(read(at(path)), path)
      await assert.rejects(write({ ...at(path), content: 'x' }), path)
    }
    await assert.rejects(write({ ...at(join(home, 'up/new.txt')), content: 'x' }))
    await assert.rejects(read(at('in/a.txt')), /must be absolute/)
    assert.equal(readFileSync(join(base, 'outside.txt'), 'utf8'), 'secret')
  })

  it('are those of a session that is known, and no longer than a bound', async () => {
    await assert.rejects(read({ ...at(join(home, 'in/a.txt')), sessionId: 'other' }))
    writeFileSync(join(home, 'big'), 'x'.repeat(101))
    await assert.rejects(read(at(join(home, 'big'))), /larger than 100 bytes/)
    await assert.rejects(read(at(join(home, 'in'))))
  })
})
