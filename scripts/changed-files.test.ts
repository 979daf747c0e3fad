import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { rmSync } from 'node:fs'
import { changedFiles, filesAt, stagedFiles } from './changed-files.ts'
import { createScratchRepository } from './scratch-repository.ts'

describe('changed files', () => {
  const { root, write, git } = createScratchRepository({
    'a.ts': '1\n',
    'b.ts': '1\n',
    'gone.ts': '1\n',
    'sub/c.ts': '1\n',
    'sub/d e.ts': '1\n',
  })

  it('are none after a commit', () => {
    assert.deepEqual(changedFiles(root), [])
    assert.deepEqual(stagedFiles(root), [])
  })

  it('are staged, unstaged and new files, without deleted and ignored ones', () => {
    write('a.ts', '2\n')
    write('sub/d e.ts', '2\n')
    git('add', 'a.ts')
    write('ü.ts', '1\n')
    write('node_modules/x.ts', '1\n')
    rmSync(join(root, 'gone.ts'))
    assert.deepEqual(changedFiles(root), ['a.ts', 'sub/d e.ts', 'ü.ts'])
    assert.deepEqual(stagedFiles(root), ['a.ts'])
  })

  it('are the files that are named, and all in a folder', () => {
    assert.deepEqual(filesAt(root, join(root, 'sub'), ['.', '../b.ts']), ['b.ts', 'sub/c.ts', 'sub/d e.ts'])
    assert.throws(() => filesAt(root, root, ['nothing.ts']), /^Error: nothing\.ts: no such file or folder$/)
  })
})
