/**
 * Two processes write at the same time, two hundred chunks each: to one task, to one task through messages, and to two tasks.
 * A store that reads, changes and writes back a whole task would lose the slower write; here no chunk is lost.
 */
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { newId } from '../../packages/a2a/src/model/id.ts'
import type { Artifact, Task } from '../../packages/a2a/src/model/task.ts'
import { openWire } from '../crash/client.ts'
import { urlOf } from '../postgres/cluster.ts'
import { masterKey, openDatabase, skipReason } from '../postgres/databases.ts'
import { startFleet } from './fleet.ts'
import type { Fleet } from './fleet.ts'
import type { WriterSettings } from './writer.ts'

const chunks = 200
const all = Array.from({ length: chunks }, (_, n) => `${n} `).join('')
const skip = await skipReason()

describe('two processes that write at the same time', { skip, timeout: 120_000 }, async () => {
  if (skip !== false) return
  const database = await openDatabase()
  let fleet: Fleet
  before(async () => {
    const { host, port } = database.cluster
    fleet = await startFleet({ size: 2, database: { host, port, name: database.name } })
  })
  after(() => fleet?.close())

  const at = (index: number) => openWire(fleet.urls[index] as string, 'counter', { version: '1.0', binding: 'JSONRPC' })
  const send = async (index: number, text: string, more: { readonly taskId?: string } = {}): Promise<Task> => {
    const message = { messageId: newId(), role: 'ROLE_USER', parts: [{ text }], ...more } as const
    const answer = await at(index).call('SendMessage', { message })
    assert.ok('task' in answer)
    return answer.task
  }

  it('keep every append of both to one task, each in order', async () => {
    const store = database.open()
    const taskId = newId()
    const at = Date.now()
    const status = { state: 'TASK_STATE_WORKING' } as const
    const partition = { tenant: '', agent: 'counter', owner: 'anonymous' }
    const create = { id: taskId, contextId: newId(), ...partition, status, statusAt: at, createdAt: at }
    await store.tasks.append(taskId, { expectedSeq: 0, create, records: [{ at, body: { type: 'status', status } }] })
    const conflicts = await Promise.all(
      (await Promise.all(['first', 'second'].map((name) => startWriter(name, taskId)))).map((begin) => begin()),
    )
    const records = await store.tasks.read(taskId, 0)
    assert.deepEqual(
      records.map(({ seq }) => seq),
      Array.from({ length: 2 * chunks + 1 }, (_, index) => index + 1),
    )
    for (const name of ['first', 'second']) {
      const said = records.flatMap(({ body }) =>
        body.type === 'artifact' && body.artifact.artifactId === name ? [textOf(body.artifact)] : [],
      )
      assert.equal(said.join(''), all, name)
    }
    assert.ok(Math.max(...conflicts) > 0, 'they never got in each other’s way')
    console.log(`400 of 400 chunks of one task; ${conflicts.join(' and ')} conflicts`)
  })

  it('keep all messages of both in one task, whichever process received them', async () => {
    const answer = await at(0).call('SendMessage', {
      message: { messageId: newId(), role: 'ROLE_USER', parts: [{ text: `${chunks} 1` }] },
      configuration: { returnImmediately: true },
    })
    assert.ok('task' in answer)
    const done = await send(1, `${chunks} 1`, { taskId: answer.task.id })
    assert.deepEqual(done.artifacts?.map(textOf), [all, all])
  })

  it("keep two tasks complete, and each reads the other's task as a whole", async () => {
    const tasks = await Promise.all([send(0, `${chunks} 1`), send(1, `${chunks} 1`)])
    for (const [index, { id }] of tasks.entries()) {
      const read = await at(1 - index).call('GetTask', { id })
      assert.deepEqual(read.artifacts?.map(textOf), [all])
    }
  })

  /** Resolves once the process runs, with a function that starts it and resolves when it is done. */
  async function startWriter(name: string, taskId: string): Promise<() => Promise<number>> {
    const settings: WriterSettings = {
      name,
      taskId,
      chunks,
      database: urlOf(database.cluster, database.name),
      masterKey: masterKey.toString('base64'),
    }
    const writer = fork(join(import.meta.dirname, 'writer.ts'), [JSON.stringify(settings)], {
      execArgv: ['--conditions=parley-source'],
    })
    await once(writer, 'message')
    return async () => {
      writer.send('begin')
      const [{ conflicts }] = (await once(writer, 'message')) as [{ conflicts: number }]
      return conflicts
    }
  }
})

function textOf({ parts }: Artifact): string {
  return parts.map((part) => ('text' in part ? part.text : '')).join('')
}
