import assert from 'node:assert/strict'
import { existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { createTurnFolder, safeFilename } from './turn-folder.ts'

describe('the folder of a turn', () => {
  it('is the owner’s alone, and gone when it is removed', async () => {
    const folder = await createTurnFolder()
    assert.equal(statSync(folder.path).mode & 0o077, 0)
    writeFileSync(join(folder.path, 'x'), '')
    await folder.remove()
    assert.equal(existsSync(folder.path), false)
  })

  it('gives what is in it, and nothing that is elsewhere, by whichever way', async () => {
    const folder = await createTurnFolder()
    try {
      mkdirSync(join(folder.path, 'out'))
      writeFileSync(join(folder.path, 'out/report.txt'), 'hi')
      symlinkSync('/etc', join(folder.path, 'etc'))
      const { bytes, filename } = await folder.read('out/report.txt', 100)
      assert.deepEqual([Buffer.from(bytes).toString(), filename], ['hi', 'report.txt'])
      assert.equal((await folder.read(join(folder.path, 'out/report.txt'), 100)).filename, 'report.txt')
      for (const path of ['/etc/passwd', '../../etc/passwd', 'etc/passwd', '.', 'missing']) {
        await assert.rejects(folder.read(path, 100_000), path)
      }
      await assert.rejects(folder.read('out', 100), /is not a file/)
      await assert.rejects(folder.read('out/report.txt', 1), /larger than 1 bytes/)
    } finally {
      await folder.remove()
    }
  })
})

describe('a filename from a caller', () => {
  it('is one part of a path, and no hidden one', () => {
    const names = [
      'a b.txt',
      '../../etc/passwd',
      'c:\\x\\y.png',
      '.bashrc',
      '-rf',
      'a\0b\n;$(x).txt',
      'Öl.pdf',
      '..',
      '',
    ]
    assert.deepEqual(
      names.map((name) => safeFilename(name)),
      ['a b.txt', 'passwd', 'y.png', 'bashrc', 'rf', 'a_b____x_.txt', 'Öl.pdf', 'file', 'file'],
    )
    assert.equal(safeFilename(undefined, '.json'), 'file.json')
  })

  it('is cut where it is too long, its ending kept', () => {
    const name = safeFilename(`${'x'.repeat(300)}.tar`)
    assert.deepEqual([name.length, name.endsWith('x.tar')], [100, true])
  })
})
