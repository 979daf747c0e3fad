/** An answer that names its task by reference only: which task it continues, and that a secret in it is never stored. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Agent, Turn } from '../../agents/agent.ts'
import { authRequired, inputRequired } from '../../agents/reports.ts'
import { clientToolsExtension as uri } from '../../model/extension.ts'
import type { Message, Part } from '../../model/task.ts'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import { artifactText, type TestEngine, openTestEngine, short } from '../../testing/fixtures/test-engine.ts'
import { faultyStore } from '../../testing/fixtures/faulty-store.ts'

const secret = 'hunter2'
const refused = { code: 'INVALID_PARAMS', message: /matches no open question of the referenced task/ }

const result = (toolUseId: string | undefined, value: string): readonly Part[] => [
  { text: 'Here is the requested input:' },
  {
    data: { ...(toolUseId === undefined ? {} : { toolUseId }), result: { value } },
    metadata: { [uri]: { type: 'tool-result' } },
  },
]

const asking = (sensitive: boolean) =>
  inputRequired({
    parts: [{ text: 'Key?' }],
    metadata: { [uri]: { inputRequest: { kind: 'input-request', requestId: 'input-1', prompt: 'Key?', sensitive } } },
  })

const valueIn = ({ parts }: Message): string | undefined => {
  const [part] = parts.filter((given) => 'data' in given)
  return (part?.data as { result?: { value?: string } } | undefined)?.result?.value
}

/** Asks as the message says, and reports the length of the answer. */
const agent: Agent = ({ text, message }: Turn) => {
  if (text === 'secret') return asking(true)
  if (text === 'open') return asking(false)
  if (text === 'words') return inputRequired('Which city?')
  if (text === 'password') return inputRequired('Password?', { sensitive: true })
  if (text === 'auth') return authRequired('Token, please', { inBand: true })
  return `${valueIn(message)?.length ?? 0} letters`
}

async function keptText({ store }: TestEngine): Promise<string> {
  const { tasks } = await store.tasks.list({ tenant: '', agent: 'agent', owner: 'alice', limit: 100 })
  const logs = await Promise.all(tasks.map(({ id }) => store.tasks.read(id, 0)))
  return JSON.stringify(logs)
}

async function openTasks({ store }: TestEngine): Promise<number> {
  return (await store.tasks.list({ tenant: '', agent: 'agent', owner: 'alice', limit: 100 })).total
}

describe('the answer to a secret question by reference', () => {
  it('continues the task by the id of the request, and only its turn gets the secret [S2-14]', async (t) => {
    const testEngine = await openTestEngine(t, agent)
    const asked = await testEngine.task('secret')
    const done = await testEngine.task({ parts: result('input-1', secret), referenceTaskIds: [asked.id] })
    assert.deepEqual([done.id, artifactText(done, 'answer-2')], [asked.id, '7 letters'])
    assert.ok(!(await keptText(testEngine)).includes(secret))
  })

  it('with another id, or none, is refused and kept nowhere [S2-14]', async (t) => {
    const testEngine = await openTestEngine(t, agent)
    for (const question of ['secret', 'password', 'auth']) {
      const asked = await testEngine.task(question)
      for (const id of ['input-2', undefined]) {
        const referenceTaskIds = ['unknown', asked.id]
        await assert.rejects(testEngine.task({ parts: result(id, secret), referenceTaskIds }), refused, question)
      }
      assert.match(short((await testEngine.get(asked.id)).status.state), /_REQUIRED$/)
    }
    assert.equal(await openTasks(testEngine), 3)
    assert.ok(!(await keptText(testEngine)).includes(secret))
  })

  it('that comes after the question was answered is refused, and redacted if it names the task [S2-14]', async (t) => {
    const testEngine = await openTestEngine(t, (turn: Turn) => {
      if (turn.text === 'secret' || valueIn(turn.message) !== undefined) return asking(turn.text === 'secret')
      return 'done'
    })
    const { id } = await testEngine.task('secret')
    await testEngine.task({ parts: result('input-1', secret), referenceTaskIds: [id] })
    // It asks again under the same id, but not for a secret this time.
    await testEngine.task({ parts: result('input-1', secret), referenceTaskIds: [id] })
    await testEngine.task({ taskId: id, parts: result('input-1', secret) })
    await testEngine.task({ taskId: id, parts: [{ text: 'done' }] })
    await assert.rejects(testEngine.task({ parts: result('input-1', secret), referenceTaskIds: [id] }), refused)
    assert.ok(!(await keptText(testEngine)).includes(secret))
  })

  it('that several tasks wait for is refused [S2-14]', async (t) => {
    const testEngine = await openTestEngine(t, agent)
    const [one, other] = [await testEngine.task('secret'), await testEngine.task('secret')]
    const referenceTaskIds = [one.id, other.id]
    await assert.rejects(testEngine.task({ parts: result('input-1', secret), referenceTaskIds }), refused)
    assert.equal(await openTasks(testEngine), 2)
  })

  it('beside the answer to another task, or in a message that names another task, is refused [S2-14]', async (t) => {
    const testEngine = await openTestEngine(t, agent)
    const [waiting, open] = [await testEngine.task('secret'), await testEngine.task('open')]
    const referenceTaskIds = [waiting.id, open.id]
    const words = await testEngine.task('words')
    const both = [...result(words.status.message?.messageId, 'Lisbon'), ...result('input-2', secret)]
    await assert.rejects(testEngine.task({ parts: both, referenceTaskIds: [waiting.id, words.id] }), refused)
    await assert.rejects(
      testEngine.task({ taskId: open.id, parts: result('input-2', secret), referenceTaskIds }),
      refused,
    )
    // If every result answers the continued task, the other reference is only a reference.
    const done = await testEngine.task({ taskId: open.id, parts: result('input-1', 'plain'), referenceTaskIds })
    assert.equal(short(done.status.state), 'COMPLETED')
    assert.ok(!(await keptText(testEngine)).includes(secret))
  })

  it('sent to another agent is refused, and one that refers to another caller’s task is not', async (t) => {
    const testEngine = await openTestEngine(t, agent)
    const { id } = await testEngine.task('secret')
    const said = { parts: result('input-1', secret), referenceTaskIds: [id] }
    await assert.rejects(testEngine.task(said, { as: { agent: 'other' } }), refused)
    assert.equal(short((await testEngine.task(said, { as: { caller: { id: 'bob' } } })).status.state), 'COMPLETED')
  })

  it('is not taken for a new task while the store cannot tell', async (t) => {
    let isDown = false
    const trouble = {
      before: (method: string) => isDown && method === 'tasks.load' && Promise.reject(new Error('down')),
    }
    const store = memoryStore()
    const first = await openTestEngine(t, agent, { store })
    const { id } = await first.task('secret')
    const second = await openTestEngine(t, agent, { store: faultyStore(store, trouble) })
    isDown = true
    const answer = { parts: result('input-1', secret), referenceTaskIds: [id] }
    await assert.rejects(second.task(answer), { code: 'UNAVAILABLE' })
    assert.equal(await openTasks(second), 1)
  })
})

describe('the answer to another question by reference', () => {
  it('may name the question by the id of its message', async (t) => {
    const testEngine = await openTestEngine(t, agent)
    const asked = await testEngine.task('words')
    const { messageId } = asked.status.message ?? { messageId: '' }
    const done = await testEngine.task({ parts: result(messageId, 'Lisbon'), referenceTaskIds: [asked.id] })
    assert.deepEqual([done.id, artifactText(done, 'answer-2')], [asked.id, '6 letters'])
  })

  it('that fits none opens a task as before', async (t) => {
    const testEngine = await openTestEngine(t, agent)
    const asked = await testEngine.task('open')
    const other = await testEngine.task({ parts: result('input-2', 'Lisbon'), referenceTaskIds: [asked.id] })
    assert.notEqual(other.id, asked.id)
  })

  it('is searched for among a hundred references, and refused beyond', async (t) => {
    const testEngine = await openTestEngine(t, agent)
    const asked = await testEngine.task('secret')
    const references = (count: number) => [...Array.from({ length: count }, (_, n) => `task-${n}`), asked.id]
    const parts = result('input-1', secret)
    await assert.rejects(testEngine.task({ parts, referenceTaskIds: references(100) }), { code: 'INVALID_PARAMS' })
    assert.equal((await testEngine.task({ parts, referenceTaskIds: references(99) })).id, asked.id)
  })
})
