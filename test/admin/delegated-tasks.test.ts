/** Delegated tasks as operators see them: which one failed a task and why, and a question that they pass up. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openTestHub } from './test-hub.ts'

const delegating = (agent: string): string => `
async function* run({ text }, { delegate }) {
  const { text: answer } = yield* delegate({ agent: '${agent}', message: text })
  yield answer
}
export default { resume: 'rerun', run }
`
const testHub = await openTestHub({
  config: {
    routes: [{ from: 'liar', when: { text: 'invoice' }, to: 'flaky' }],
    agents: {
      front: { kind: 'module', path: './front.ts' },
      middle: { kind: 'module', path: './middle.ts' },
      flaky: { kind: 'module', path: './flaky.ts' },
      asker: { kind: 'module', path: './asker.ts' },
      asking: { kind: 'module', path: './asking.ts' },
      liar: { kind: 'module', path: './liar.ts' },
    },
  },
  files: {
    'front.ts': delegating('middle'),
    'middle.ts': delegating('flaky'),
    'asker.ts': "export default () => ({ state: 'TASK_STATE_INPUT_REQUIRED', message: 'Which city?' })\n",
    'asking.ts': delegating('asker'),
    'flaky.ts': "export default () => { throw new Error('disk full') }\n",
    'liar.ts':
      "export default ({ text }) => { throw new Error('x', { cause: 'the delegated task ' + text + ' of flaky' }) }\n",
  },
})
const detailOf = async (id: string) => (await testHub.ask('GET', `/admin/tasks/${id}`)).json

describe('a task that a delegated task failed', () => {
  it('names the last one of the chain with its cause, for operators only', async () => {
    const task = await testHub.send('front', 'hi')
    const [{ text }] = task.status.message.parts
    assert.equal(text, 'The agent middle failed: The agent flaky failed: The agent failed')
    assert.ok(!JSON.stringify(task).includes('disk full'))
    const { tasks } = (await testHub.ask('GET', '/admin/tasks?agent=flaky')).json
    const failedChild = { taskId: tasks[0].id, agent: 'flaky' }
    const detail = await detailOf(task.id)
    assert.deepEqual([detail.cause, detail.failedChild], ['flaky: disk full', failedChild])
    assert.match(
      detail.causeDetails,
      /^A2AError: The agent middle failed.*\nCaused by: the task \S+ of flaky\nCaused by: Error: disk full\n {4}at /s,
    )
    const [listed] = (await testHub.ask('GET', '/admin/tasks?agent=front')).json.tasks
    assert.deepEqual([listed.cause, listed.failedChild], ['flaky: disk full', failedChild])
    const [trace] = (await testHub.ask('GET', `/admin/traces/${task.id}`)).json.traces
    assert.deepEqual([trace.summary.cause, trace.summary.failedChild], ['flaky: disk full', failedChild])
    assert.equal((await testHub.ask('GET', '/admin/agents/front')).json.lastError.cause, 'flaky: disk full')
  })

  it('names the one that took it over by a route', async () => {
    const { id } = await testHub.send('liar', 'an invoice')
    const { cause, failedChild } = await detailOf(id)
    assert.deepEqual([cause, failedChild.agent], ['flaky: disk full', 'flaky'])
  })

  it('is not named by the text of an agent that created no such task', async () => {
    const { tasks } = (await testHub.ask('GET', '/admin/tasks?agent=flaky')).json
    const { id } = await testHub.send('liar', tasks.at(-1).id)
    const { cause, failedChild } = await detailOf(id)
    assert.deepEqual([cause, failedChild], ['x', undefined])
  })
})

describe('a question that a delegated task passes up', () => {
  it('counts once, at the task of the original caller, and the list has only that at the top level', async () => {
    const task = await testHub.send('asking', 'hi')
    assert.equal(task.status.state, 'TASK_STATE_INPUT_REQUIRED')
    const counts = (await testHub.ask('GET', '/admin/task-counts')).json
    assert.deepEqual([counts.states.TASK_STATE_INPUT_REQUIRED, counts.waiting], [2, 1])
    for (const [agent, waiting] of [
      ['asking', 1],
      ['asker', 0],
    ] as const)
      assert.equal((await testHub.ask('GET', `/admin/agents/${agent}`)).json.load.waiting, waiting, agent)
    const { tasks } = (await testHub.ask('GET', '/admin/tasks?state=TASK_STATE_INPUT_REQUIRED&level=top')).json
    assert.deepEqual(
      tasks.map(({ id }: { id: string }) => id),
      [task.id],
    )
  })
})
