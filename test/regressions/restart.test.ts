/**
 * Guards against: tasks that stay WORKING forever because the process that ran
 * them is gone. Here a process is killed during output: nothing is closed,
 * and another process opens its file.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import type { Task } from '@parley/a2a'
import { sqliteStore } from '@parley/a2a/stores/sqlite'
import { testAgent } from '@parley/a2a/testing'
import { waitUntil } from './protocol-requests.ts'
import { agents } from './restart-agents.ts'

const directory = mkdtempSync(join(tmpdir(), 'parley-defects-'))
after(() => rmSync(directory, { recursive: true, force: true }))

/** Opens a task of each kind in a separate process, and kills it once all of them run. */
async function die(file: string): Promise<Record<string, string>> {
  const child = spawn(
    process.execPath,
    ['--conditions=parley-source', join(import.meta.dirname, 'restart-agents.ts'), file],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  child.kill('SIGKILL')
  await once(child, 'close')
  return JSON.parse(line.toString()) as Record<string, string>
}

describe('a server that was killed while agents ran', () => {
  it('leaves no task WORKING forever [B-52 B-50]', async () => {
    const file = join(directory, 'tasks.db')
    const ids = await die(file)
    const agent = testAgent(agents, { store: sqliteStore(file) })
    const stateOf = async (id: string): Promise<string> => (await agent.get(id)).status.state
    const settled = async (): Promise<boolean> =>
      (await Promise.all(Object.values(ids).map(stateOf))).every((state) => !/WORKING|SUBMITTED/.test(state))
    await waitUntil(settled, 'every task settles')
    const texts = async (id: string): Promise<string> => {
      const { artifacts = [], status } = await agent.get(id)
      const parts = [...artifacts.flatMap((artifact) => artifact.parts), ...(status.message?.parts ?? [])]
      return `${status.state}: ${parts.map((part) => ('text' in part ? part.text : '')).join('|')}`
    }
    assert.equal(await texts(ids['work'] ?? ''), 'TASK_STATE_COMPLETED: again from 7')
    assert.equal(await texts(ids['wait'] ?? ''), 'TASK_STATE_INPUT_REQUIRED: Which?')
    const { status } = (await agent.send('that one', { taskId: ids['wait'] ?? '' })) as Task
    assert.equal(status.state, 'TASK_STATE_COMPLETED')
    await agent.close()
  })

  it('fails tasks of an agent that cannot resume, with the reason [B-52]', async () => {
    const file = join(directory, 'plain.db')
    const ids = await die(file)
    const agent = testAgent(({ text }) => text, { store: sqliteStore(file) })
    await waitUntil(
      async () => (await agent.get(ids['work'] ?? '')).status.state === 'TASK_STATE_FAILED',
      'the task fails',
    )
    const { status } = await agent.get(ids['work'] ?? '')
    assert.match(JSON.stringify(status.message?.parts), /interrupted/)
    await agent.close()
  })
})
