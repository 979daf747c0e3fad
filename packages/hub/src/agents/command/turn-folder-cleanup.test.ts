/** Folders that a killed hub left, next to those of running hubs. This file is also the program of such a hub. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { createTurnFolder, removeStaleTurnFolders, turnFolderPrefix } from './turn-folder.ts'

const makeFlag = '--make-turn-folder'
if (process.argv.includes(makeFlag)) {
  const { path } = await createTurnFolder()
  writeFileSync(join(path, '1-secret.txt'), 'of a message')
  process.stdout.write(`${basename(path)}\n`)
  setInterval(() => {}, 60_000)
} else describeSweep()

function describeSweep(): void {
  describe('folders of turns', () => {
    let directory = ''
    beforeEach(() => {
      directory = mkdtempSync(join(tmpdir(), 'parley-sweep-'))
    })
    afterEach(() => rmSync(directory, { recursive: true }))

    async function startHub() {
      const child = spawn(process.execPath, ['--conditions=parley-source', import.meta.filename, makeFlag], {
        env: { PATH: process.env['PATH'], TMPDIR: directory },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const [line] = (await once(child.stdout, 'data')) as [Buffer]
      return {
        folder: line.toString().trim(),
        async kill(): Promise<void> {
          const gone = once(child, 'exit')
          child.kill('SIGKILL')
          await gone
        },
      }
    }

    it('are removed after their hub was killed, and not before', async () => {
      const [dead, alive] = await Promise.all([startHub(), startHub()])
      try {
        assert.equal(await removeStaleTurnFolders(directory), 0)
        await dead.kill()
        assert.equal(await removeStaleTurnFolders(directory), 1)
        assert.deepEqual(readdirSync(directory), [alive.folder])
      } finally {
        await alive.kill()
      }
    })

    it('are removed if their process number is that of another process now', { skip: noProc() }, async () => {
      // A folder with the pid of this process but another start time.
      const other = basename(turnFolderPrefix()).replace(/-\d+-$/, '-1-x')
      mkdirSync(join(directory, other))
      assert.equal(await removeStaleTurnFolders(directory), 1)
      assert.deepEqual(readdirSync(directory), [])
    })

    it('stay if they are of another machine, of no hub, or no folders', async () => {
      const gone = 2 ** 22 + 1
      const left = basename(turnFolderPrefix()).replace(/-\d+-\d+-$/, `-${gone}-1-`)
      for (const name of [`parley-turn-00000000-${gone}-1-abc`, 'parley-turn-abc', 'others']) {
        mkdirSync(join(directory, name))
      }
      writeFileSync(join(directory, `${left}file`), '')
      symlinkSync(directory, join(directory, `${left}link`))
      assert.equal(await removeStaleTurnFolders(directory), 0)
      assert.equal(readdirSync(directory).length, 5)
    })
  })
}

function noProc(): string | false {
  return existsSync('/proc/self/stat') ? false : 'without /proc it is not known when a process was started'
}
