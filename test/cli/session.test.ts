/**
 * A session in a real terminal (tmux): a message, a stream whose server is killed in the middle, a question answered, a detached and
 * canceled task, a download. What the terminal shows is compared with the panes of test/cli/session, except ids and ports.
 * `PARLEY_GOLDEN=write` records them.
 */
import assert from 'node:assert/strict'
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { freePort } from '../free-port.ts'
import { openTerminal, terminalSkipReason, type Terminal } from '../journeys/terminal.ts'
import { fileBytes } from './fixture/script.ts'
import { builtProgram } from './program/built-program.ts'

const isWriting = process.env['PARLEY_GOLDEN'] === 'write'
const id = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/

describe('a session in a terminal', { skip: terminalSkipReason }, () => {
  let folder: string
  let port: number
  let terminal: Terminal
  let server: ChildProcess

  const startServer = async (): Promise<ChildProcess> => {
    const child = fork(
      join(import.meta.dirname, 'fixture/main.ts'),
      ['--port', String(port), '--database', join(folder, 'tasks.db')],
      { execArgv: ['--conditions=parley-source'], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] },
    )
    await once(child, 'message')
    return child
  }
  const killServer = async (): Promise<void> => {
    server.kill('SIGKILL')
    await once(server, 'exit')
  }
  const openGate = (name: string): Promise<unknown> =>
    fetch(`http://127.0.0.1:${port}/fixture/open/${name}`, { method: 'POST' })

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'a2a-session-'))
    port = await freePort()
    const [bin, home, work] = ['bin', 'home', 'work'].map((name) => join(folder, name)) as [string, string, string]
    await Promise.all([bin, home, work].map((each) => mkdir(each)))
    const words = builtProgram().map((word) => `'${word}'`)
    await writeFile(join(bin, 'a2a'), `#!/bin/sh\nexec ${words.join(' ')} "$@"\n`)
    await chmod(join(bin, 'a2a'), 0o755)
    server = await startServer()
    const env = {
      PATH: `${bin}:${process.env['PATH'] ?? ''}`,
      HOME: home,
      A2ACLI_AGENT_CARD: `http://127.0.0.1:${port}`,
    }
    terminal = await openTerminal({ cwd: work, env })
  })
  after(async () => {
    await terminal[Symbol.asyncDispose]()
    server.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  })

  /** Compares what the terminal shows since the first command of the test. */
  async function comparePane(name: string, shown: string): Promise<void> {
    const file = join(import.meta.dirname, 'session', `${name}.txt`)
    const ids = new Map<string, string>()
    const text = shown
      .replaceAll(String(port), '<port>')
      .replaceAll(new RegExp(id, 'g'), (one) => {
        const label = ids.get(one) ?? `<id-${ids.size + 1}>`
        ids.set(one, label)
        return label
      })
      // Printed only if something takes longer than a second.
      .replaceAll(/^(State: TASK_STATE_WORKING: |Waiting for ).*\n/gm, '')
      .replaceAll(/[ ]+$/gm, '')
      .trim()
    if (isWriting) await writeFile(file, `${text}\n`)
    assert.equal(`${text}\n`, await readFile(file, 'utf8'), 'PARLEY_GOLDEN=write records it')
  }

  it('sends a message and shows the result', async () => {
    await terminal.begin('a2a send "complete the order"')
    await comparePane('1-send', await terminal.until(/Done: the order\n[\s\S]*: completed\n[\s\S]*\$ *\n*$/))
  })

  it('follows a stream over the death and the restart of the server, and shows each event once', async () => {
    await terminal.begin('a2a send --stream "hold session"')
    await terminal.until(/before the gate/)
    await killServer()
    await terminal.until(/interrupted; resuming/)
    server = await startServer()
    await openGate('session')
    const shown = await terminal.until(/: completed\n[\s\S]*\$ *\n*$/)
    assert.equal(shown.match(/after the gate/g)?.length, 1, shown)
    // How much of the task is shown again depends on how long the restart took: the client resumes, or polls.
    const [begin = ''] = /[\s\S]*interrupted; resuming\./.exec(shown) ?? []
    await comparePane('2-stream-interrupted', begin)
  })

  it('answers a question with the printed command', async () => {
    await terminal.begin('a2a send input')
    const asked = await terminal.until(/Resume: .*\n[\s\S]*\$ *\n*$/)
    const [, command = ''] = /Resume: (.*)/.exec(asked) ?? []
    await terminal.type(command.replace('"<reply>"', 'Oslo'))
    await comparePane('3-question', await terminal.until(/You answered: Oslo\n[\s\S]*: completed\n[\s\S]*\$ *\n*$/))
  })

  it('detaches at Ctrl-C, and cancels the task later', async () => {
    await terminal.begin('a2a send "hold canceled"')
    await terminal.until(/before the gate/)
    await terminal.press('C-c')
    const detached = await terminal.until(/a2a task (get|subscribe)[\s\S]*\$ *\n*$/)
    const [taskId = ''] = id.exec(detached) ?? []
    await terminal.type(`a2a task cancel ${taskId}`)
    await comparePane('4-cancel', await terminal.until(/TASK_STATE_CANCELED[\s\S]*\$ *\n*$/))
  })

  it('downloads the files of a task', async () => {
    await terminal.begin('a2a send parts')
    const shown = await terminal.until(/Download: .*\n[\s\S]*\$ *\n*$/)
    const [, command = ''] = /Download: (.*)/.exec(shown) ?? []
    await terminal.type(`${command} --dir out`)
    await comparePane('5-download', await terminal.until(/Saved: .*\n[\s\S]*\$ *\n*$/))
    assert.deepEqual(new Uint8Array(await readFile(join(folder, 'work/out/chart.png'))), fileBytes)
  })
})
