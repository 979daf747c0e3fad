/** Agents that throw, reject, report invalid values or time out: always a task with that state, never a broken response. */
import assert from 'node:assert/strict'
import { fail, inputRequired, reject } from '@parley/a2a'
import type { AgentFunction, Report } from '@parley/a2a'
import { createGate, sendForTask } from '../scenario.ts'
import type { Scenario } from '../scenario.ts'
import { partsName, messageParams, stateIn, statusUpdateIn } from '../spelling.ts'

const endings: readonly {
  readonly agent: AgentFunction
  readonly state: 'FAILED' | 'REJECTED'
  readonly text: string
}[] = [
  {
    agent: () => {
      throw new Error('secret: at /home/me')
    },
    state: 'FAILED',
    text: 'The agent failed',
  },
  {
    async *agent() {
      yield 'half an'
      throw new Error('secret: later')
    },
    state: 'FAILED',
    text: 'The agent failed',
  },
  { agent: () => fail('Upstream is down'), state: 'FAILED', text: 'Upstream is down' },
  { agent: () => reject('Not my job'), state: 'REJECTED', text: 'Not my job' },
]

export const failures: readonly Scenario[] = [
  {
    name: 'an agent that throws, fails or rejects ends its task with a message that reveals no secrets [B-50 B-51 S2-9]',
    async check({ open, form }) {
      for (const { agent, state, text } of endings) {
        const peer = open(agent)
        const { id } = await sendForTask(peer, 'go')
        const { payload, body } = await peer.raw.call('GetTask', { id })
        assert.equal(payload.status.state, stateIn(form, `TASK_STATE_${state}`))
        assert.equal(payload.status.message[partsName(form)][0].text, text)
        assert.doesNotMatch(JSON.stringify(body), /secret/)
      }
    },
  },
  {
    name: 'a stream has the failure as its last status and keeps the earlier events [B-50 B-90 B-97]',
    async check({ open, form }) {
      const peer = open(endings[1]!.agent)
      const { frames } = await peer.raw.stream('SendStreamingMessage', messageParams('go'))
      const last = statusUpdateIn(form, frames.at(-1)?.payload)
      assert.equal(last.status.state, stateIn(form, 'TASK_STATE_FAILED'))
      assert.equal(last.final, form === '1.x' ? undefined : true)
      const task = await peer.get(last.taskId)
      assert.deepEqual(task.artifacts?.[0]?.parts, [{ text: 'half an' }])
    },
  },
  {
    name: 'an invalid report fails the task and reaches no client [B-50]',
    async check({ open }) {
      const nonsense: unknown[] = [
        42,
        { text: 'a', data: 1 },
        { artifact: { artifactId: 'x', parts: [] } },
        { state: 'DONE' },
      ]
      for (const report of nonsense) {
        const peer = open(function* () {
          yield report as Report
        })
        const task = await sendForTask(peer, 'go')
        assert.equal(task.status.state, 'TASK_STATE_FAILED', JSON.stringify(report))
        assert.equal(task.artifacts, undefined)
      }
    },
  },
  {
    name: 'a turn that exceeds its limit fails with "Task timed out", and its signal aborts [S0-20 S0-21]',
    async check({ open }) {
      const aborted = createGate()
      const peer = open(
        async ({ signal }) => {
          signal.addEventListener('abort', aborted.open, { once: true })
          await new Promise(() => {})
        },
        { turnTimeoutMs: 40 },
      )
      const task = await sendForTask(peer, 'go')
      assert.equal(task.status.state, 'TASK_STATE_FAILED')
      assert.deepEqual(task.status.message?.parts, [{ text: 'Task timed out' }])
      await aborted.opened
    },
  },
  {
    name: 'a question without an answer in time fails the task with the reason, if configured [S2-16]',
    async check({ open }) {
      const peer = open(() => inputRequired('Still there?'), {
        inputTimeout: { afterMs: 30, then: 'fail' },
        keepOpenOnInputRequired: true,
      })
      const events = await peer.stream('go').all()
      const [asked, last] = events.slice(-2)
      assert.ok(asked !== undefined && 'statusUpdate' in asked && last !== undefined && 'statusUpdate' in last)
      assert.equal(asked.statusUpdate.status.state, 'TASK_STATE_INPUT_REQUIRED')
      assert.equal(last.statusUpdate.status.state, 'TASK_STATE_FAILED')
      assert.equal(last.statusUpdate.metadata?.['reason'], 'INPUT_TIMEOUT')
    },
  },
]
