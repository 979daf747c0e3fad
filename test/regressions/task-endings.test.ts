/**
 * Guards against: tasks that end twice or never. In other servers a late report turned a
 * canceled task into a completed one, an agent that reported its whole task again left it
 * submitted forever, and a cancel that the agent did not confirm got no response.
 */
import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import { after, describe, it } from 'node:test'
import { artifact, fail, inputRequired, reject, status } from '@parley/a2a'
import type { Agent, Task } from '@parley/a2a'
import { testAgent } from '@parley/a2a/testing'
import type { TestAgent } from '@parley/a2a/testing'
import { createRecordingLog, createGate, nameOf, requestFormats } from './protocol-requests.ts'

const opened: TestAgent[] = []
function tested(agent: Agent): TestAgent {
  const made = testAgent(agent, { cancelGraceMs: 100, server: { log: createRecordingLog() } })
  opened.push(made)
  return made
}
after(async () => {
  for (const agent of opened) await agent.close()
})

describe('a task that has ended', () => {
  const endings = { COMPLETED: { state: 'TASK_STATE_COMPLETED' } as const, FAILED: fail('No'), REJECTED: reject('No') }
  for (const [name, ending] of Object.entries(endings)) {
    it(`as ${name} stays so, whatever its agent reports later [B-43]`, async () => {
      const agent = tested(async function* () {
        yield artifact('one', { text: 'said' })
        try {
          yield ending
        } finally {
          yield artifact('two', { text: 'too late' })
          yield { state: 'TASK_STATE_WORKING' }
        }
      })
      const task = (await agent.send('go')) as Task
      assert.equal(task.status.state, `TASK_STATE_${name}`)
      await setImmediate()
      const later = await agent.get(task.id)
      assert.equal(later.status.state, `TASK_STATE_${name}`)
      assert.deepEqual(
        later.artifacts?.map(({ artifactId }) => artifactId),
        ['one'],
      )
      for (const way of requestFormats) {
        const seen = agent.as(way.version, way.binding)
        await assert.rejects(seen.send('more', { taskId: task.id }), { code: 'UNSUPPORTED_OPERATION' }, nameOf(way))
        await assert.rejects(seen.cancel(task.id), { code: 'TASK_NOT_CANCELABLE' }, nameOf(way))
      }
    })
  }

  it('was either canceled or completed, and all readers see the same [B-113]', async () => {
    for (let round = 0; round < 300; round += 1) {
      const go = createGate()
      const agent = tested(async function* () {
        yield status('At work')
        await go.opened
        yield 'done'
      })
      const { id } = (await agent.send('go', { returnImmediately: true })) as Task
      const stream = agent.subscribe(id).frames()
      await stream.next()
      const rest = Array.fromAsync(stream)
      go.open()
      for (let turns = round % 5; turns > 0; turns -= 1) await setImmediate()
      const canceled = await agent.cancel(id).then(
        (task) => task.status.state,
        (reason: unknown) => (reason as { code: string }).code,
      )
      const end = (await agent.get(id)).status.state
      assert.equal(canceled, end === 'TASK_STATE_CANCELED' ? 'TASK_STATE_CANCELED' : 'TASK_NOT_CANCELABLE')
      const last = (await rest).at(-1)?.event
      assert.equal(last !== undefined && 'statusUpdate' in last && last.statusUpdate.status.state, end)
      await agent.close()
    }
  })
})

describe('an agent that reports its task again', () => {
  const again: Record<string, unknown> = {
    'as the older protocol has it': { kind: 'task', id: 'x', contextId: 'y', status: { state: 'submitted' } },
    'as the newer has it': { task: { id: 'x', status: { state: 'TASK_STATE_SUBMITTED' } } },
    'as an update': { statusUpdate: { taskId: 'x', status: { state: 'TASK_STATE_WORKING' } } },
  }
  for (const [how, report] of Object.entries(again)) {
    it(`${how} fails, in a stream and in a blocking call, and is not left submitted [B-50]`, async () => {
      const agent = tested(async function* () {
        yield status('At work')
        yield report as string
        yield 'done'
      })
      const sent = (await agent.send('go')) as Task
      assert.equal(sent.status.state, 'TASK_STATE_FAILED')
      const states = await agent.stream('go').states()
      assert.equal(states.at(-1), 'TASK_STATE_FAILED')
    })
  }

  it('by its states alone is accepted', async () => {
    const agent = tested(async function* () {
      yield { state: 'TASK_STATE_SUBMITTED' } as const
      yield { state: 'TASK_STATE_WORKING' } as const
      yield { state: 'TASK_STATE_SUBMITTED' } as const
      yield 'done'
    })
    const states = await agent.stream('go').states()
    assert.equal(states.filter((state) => state === 'TASK_STATE_SUBMITTED').length, 1)
    assert.equal(states.at(-1), 'TASK_STATE_COMPLETED')
  })
})

describe('a cancel', () => {
  const never = new Promise<never>(() => {})
  const deaf: Record<string, Agent> = {
    'that says nothing': () => never,
    'that has said something': async function* () {
      yield 'some'
      await never
    },
    'that never stops talking': async function* () {
      for (;;) {
        yield 'more '
        await setImmediate()
      }
    },
    'that waits for an answer in the middle': async (turn) => turn.ask('Which?'),
    'that has asked and gone': () => inputRequired('Which?'),
    'that throws on abort': async ({ signal }) => {
      await new Promise((_, refuse) => signal.addEventListener('abort', () => refuse(new Error('ouch'))))
    },
  }
  for (const [what, agent] of Object.entries(deaf)) {
    for (const way of requestFormats) {
      it(`is answered for an agent ${what}, in ${nameOf(way)} [B-110 B-114]`, async () => {
        const client = tested(agent).as(way.version, way.binding)
        const { id } = (await client.send('go', { returnImmediately: true })) as Task
        const task = await client.cancel(id)
        assert.equal(task.status.state, 'TASK_STATE_CANCELED')
        assert.equal((await client.get(id)).status.state, 'TASK_STATE_CANCELED', 'and it stays so')
      })
    }
  }

  it('reaches an agent that waits for input, without waiting for the grace period', async () => {
    const agent = testAgent(async (turn) => turn.ask('Which?'), {
      cancelGraceMs: 60_000,
      server: { log: createRecordingLog() },
    })
    const { id } = (await agent.send('go')) as Task
    assert.equal((await agent.cancel(id)).status.state, 'TASK_STATE_CANCELED')
    await agent.close()
  })
})
