/** Traces survive a restart: no record is read twice, and missed ones are read. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Task } from '@parley/a2a'
import { openCollector } from './collector.ts'
import { newFolder, openHub } from './open-hub.ts'

const agents = {
  echo: { kind: 'module', path: './agents/echo.ts' },
  concierge: { kind: 'demo', agent: 'concierge' },
}

describe('a restarted hub', () => {
  it('has the earlier traces, continues those that wait, and exports no span twice', async (t) => {
    const folder = await newFolder(t)
    const collector = await openCollector()
    const sections = { agents, telemetry: { otlp: { url: collector.url, metrics: false } } }
    const first = await openHub(t, sections, folder)
    const done = (await (await first.agent('echo')).send('hi')) as unknown as Task
    const open = (await (await first.agent('concierge')).send('A table, please')) as unknown as Task
    assert.equal(open.status.state, 'TASK_STATE_INPUT_REQUIRED')
    await first.close()
    const before = collector.spans.length
    assert.ok(before >= 3, 'what was done is sent at the end')

    const second = await openHub(t, sections, folder)
    t.after(() => collector.close())
    const concierge = await second.agent('concierge')
    let task = (await concierge.send({ taskId: open.id, parts: [{ text: 'Rome' }] })) as unknown as Task
    for (let asked = 0; task.status.state === 'TASK_STATE_INPUT_REQUIRED' && asked < 5; asked += 1)
      task = (await concierge.send({ taskId: open.id, parts: [{ text: 'yes' }] })) as unknown as Task
    assert.equal(task.status.state, 'TASK_STATE_COMPLETED')
    await collector.until(
      (spans) =>
        spans.some(
          ({ name, attributes }) => name === 'invoke_agent concierge' && attributes['a2a.task.id'] === open.id,
        ),
      'the root of the task that waited',
    )
    const ids = collector.spans.map(({ spanId }) => spanId)
    assert.equal(new Set(ids).size, ids.length)
    const { traces } = await second.admin('/admin/traces')
    assert.deepEqual(
      traces.map(({ taskId, status }: { taskId: string; status: string }) => [taskId, status]),
      [
        [open.id, 'SUCCESS'],
        [done.id, 'SUCCESS'],
      ],
    )
    const turns = collector.spans.filter(({ name }) => name.startsWith('turn ')).length
    assert.equal(
      turns,
      traces.reduce((sum: number, trace: { turns: number }) => sum + trace.turns, 0),
    )
  })
})
