/** Two engines on one database, like two replicas: both serve a task, whichever one runs it. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { inputRequired } from '@parley/a2a'
import type { Agent } from '@parley/a2a'
import type { TestEngine } from '../../packages/a2a/src/testing/fixtures/test-engine.ts'
import {
  artifactText,
  chunksOf,
  eventually,
  openTestEngine,
  short,
  statesOf,
} from '../../packages/a2a/src/testing/fixtures/test-engine.ts'
import { createPromptedAgent } from '../../packages/a2a/src/testing/fixtures/prompted-agent.ts'
import { faultyStore } from '../../packages/a2a/src/testing/fixtures/faulty-store.ts'
import { openDatabase, skipReason } from './databases.ts'

const skip = await skipReason()
describe('two replicas on one database', { skip, timeout: 120_000 }, async () => {
  if (skip !== false) return
  const database = await openDatabase()
  let schemas = 0

  async function replicas(t: TestContext, agent: Agent, leaseTtlMs = 10_000) {
    const schema = `replicas${(schemas += 1)}`
    const open = () => database.open({ schema, leaseTtlMs, listen: () => database.client() })
    let isDead = false
    const die = (): void => {
      if (isDead) throw new Error('the process is gone')
    }
    const here = await openTestEngine(t, agent, {
      store: faultyStore(open(), { before: die, after: die }),
      sweepMs: 50,
    })
    const there = await openTestEngine(t, agent, { store: open(), sweepMs: 50 })
    return { here, there, kill: () => void (isDead = true) }
  }
  const startedOn = async (testEngine: TestEngine): Promise<string> => {
    const { id } = await testEngine.start('go')
    await testEngine.reaches(id, 'TASK_STATE_WORKING')
    return id
  }

  it('stream every event once and in order, on either replica', async (t) => {
    const { agent, say } = createPromptedAgent()
    const { here, there } = await replicas(t, agent)
    const id = await startedOn(here)
    const readers = await Promise.all([there.subscribe(id), there.subscribe(id), here.subscribe(id)])
    const words = Array.from({ length: 200 }, (_, n) => `${n} `)
    const seen = Promise.all(readers.map((reader) => reader.rest()))
    for (const word of words) {
      say(word)
      if (Math.random() < 0.3) await new Promise((resolve) => setImmediate(resolve))
    }
    say('end')
    for (const items of await seen) {
      assert.deepEqual(
        chunksOf(items).filter((text) => text !== ''),
        words,
      )
      assert.equal(statesOf(items).at(-1), 'COMPLETED')
    }
    assert.equal(artifactText(await there.get(id)), words.join(''))
  })

  it('open one task for a message that both get at once, and two for two contents under one id [B-163]', async (t) => {
    const { here, there } = await replicas(t, ({ text }) => text)
    for (let run = 0; run < 10; run += 1) {
      const [one, other] = ['one', 'other'].map((text) => ({ messageId: `m${run}`, parts: [{ text }] }))
      const sent = [here.task(one ?? ''), there.task(one ?? ''), here.task(other ?? ''), there.task(other ?? '')]
      const tasks = await Promise.all(sent)
      assert.deepEqual(
        tasks.map((task) => artifactText(task)),
        ['one', 'one', 'other', 'other'],
      )
      assert.equal(tasks[0]?.id, tasks[1]?.id)
      assert.equal(tasks[2]?.id, tasks[3]?.id)
      assert.notEqual(tasks[0]?.id, tasks[2]?.id)
    }
  })

  it('refuse other content under an id that one task has used, on either replica [B-163]', async (t) => {
    const { here, there } = await replicas(t, () => inputRequired('and?'))
    const { id } = await here.task('go')
    const [one, other] = ['one', 'other'].map((text) => ({ messageId: 'm1', taskId: id, parts: [{ text }] }))
    const outcomes = await Promise.allSettled([here.task(one ?? ''), there.task(other ?? '')])
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected')
    assert.deepEqual(
      refused.map(({ reason }) => reason.code),
      ['MESSAGE_ID_REUSED'],
    )
    const said = (await here.get(id)).history?.filter(({ messageId }) => messageId === 'm1')
    assert.equal(said?.length, 1)
  })

  it('cancel turns of the other', async (t) => {
    const { here, there } = await replicas(t, createPromptedAgent().agent)
    const id = await startedOn(here)
    assert.equal(short((await there.cancel(id)).status.state), 'CANCELED')
    assert.equal(short((await here.get(id)).status.state), 'CANCELED')
  })

  it('accept messages for turns of the other, and answer after them', async (t) => {
    const { agent, say } = createPromptedAgent()
    const { here, there } = await replicas(t, agent)
    const id = await startedOn(here)
    const answered = there.task({ taskId: id, parts: [{ text: 'more' }] })
    const messages = async () => (await here.log(id)).filter(({ body }) => body.type === 'message')
    await eventually(async () => (await messages()).length === 2, 'the message to be in the log')
    say('end')
    assert.equal(short((await answered).status.state), 'COMPLETED')
    assert.match(artifactText(await there.get(id), 'answer-2') ?? artifactText(await there.get(id)) ?? '', /did more/)
  })

  it('accept a repeated message once, whichever engine gets it', async (t) => {
    const { here, there } = await replicas(t, async function* () {
      yield 'once'
    })
    const said = { messageId: 'm-1', parts: [{ text: 'hi' }] }
    const tasks = await Promise.all([here, there, here, there].map((testEngine) => testEngine.task(said)))
    assert.equal(new Set(tasks.map(({ id }) => id)).size, 1)
  })

  it('take over from a dead one within the lease time, as the agent declares', async (t) => {
    let runs = 0
    const rerun: Agent = {
      resume: 'rerun',
      async *run() {
        runs += 1
        yield `run ${runs}`
        if (runs === 1) await new Promise(() => {})
      },
    }
    const { here, there, kill } = await replicas(t, rerun, 500)
    const { id } = await here.start('go')
    await here.reaches(id, 'TASK_STATE_WORKING')
    const reader = await there.subscribe(id)
    kill()
    const items = await reader.rest()
    assert.equal(statesOf(items).at(-1), 'COMPLETED')
    assert.equal(artifactText(await there.get(id)), 'run 2')
  })

  it('run each of many tasks to its end, none twice', async (t) => {
    const ran = new Map<string, number>()
    const { here, there } = await replicas(t, async function* ({ task, text }) {
      ran.set(task.id, (ran.get(task.id) ?? 0) + 1)
      yield `${text} `
      await new Promise((resolve) => setImmediate(resolve))
      yield 'done'
    })
    const tasks = await Promise.all(Array.from({ length: 200 }, (_, n) => (n % 2 === 0 ? here : there).task(`${n}`)))
    for (const [n, task] of tasks.entries()) {
      assert.equal(artifactText(await (n % 2 === 0 ? there : here).get(task.id)), `${n} done`)
    }
    assert.deepEqual(new Set(ran.values()), new Set([1]))
  })
})
