import assert from 'node:assert/strict'
import { mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { watchFiles } from './watch-files.ts'

describe('a watch over files', () => {
  it('reports a file that is replaced, created or removed, and no other', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-watch-'))
    const [file, late, other] = ['file', 'late', 'other'].map((name) => join(folder, name)) as [string, string, string]
    writeFileSync(file, 'one')
    let changes = 0
    let next = Promise.withResolvers<void>()
    const watch = watchFiles(async () => {
      changes += 1
      next.resolve()
    }, 20)
    t.after(() => {
      watch.close()
      rmSync(folder, { recursive: true })
    })
    const change = async (how: () => void): Promise<void> => {
      next = Promise.withResolvers()
      how()
      await next.promise
    }
    watch.watch([file, late])
    writeFileSync(other, 'not watched')
    await change(() => {
      writeFileSync(`${file}.new`, 'another')
      renameSync(`${file}.new`, file)
    })
    await change(() => writeFileSync(late, 'here now'))
    await change(() => rmSync(late))
    watch.watch([other])
    await change(() => writeFileSync(other, 'watched'))
    // A link to itself cannot be inspected, as a folder that may no longer be read.
    await change(() => {
      symlinkSync(other, `${other}.new`)
      renameSync(`${other}.new`, other)
    })
    await change(() => {
      rmSync(other)
      writeFileSync(other, 'again')
    })
    assert.equal(changes, 6)
  })
})
