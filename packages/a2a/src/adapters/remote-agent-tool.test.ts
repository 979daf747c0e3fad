import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import type { Agent } from '../agents/agent.ts'
import { status } from '../agents/reports.ts'
import { serve } from '../server/node.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { reportGraphEvent } from './langgraph/graph-events.ts'
import { openRemoteAgentTool } from './remote-agent-tool.ts'
import type { RunRecorder } from './run-recorder.ts'

async function called(t: TestContext, agent: Agent): Promise<{ progress: string[]; result: unknown }> {
  const server = await serve({ name: 'Remote', agent, store: memoryStore(), port: 0, quiet: true })
  t.after(() => server.close())
  const { call } = await openRemoteAgentTool(server.url, {})
  const running = call({ message: 'go' })
  const progress: string[] = []
  for (;;) {
    const { value, done } = await running.next()
    if (done === true) return { progress, result: value }
    progress.push(value)
  }
}

it('the progress of a remote agent is the text that is new', async (t) => {
  const lines = Array.from({ length: 50 }, (_, index) => `${String(index).padStart(3, '0')}${'x'.repeat(497)}`)
  const { progress, result } = await called(t, async function* () {
    yield* lines
  })
  assert.equal(result, lines.join(''))
  assert.ok(lines.join('').startsWith(progress[0] ?? '-'))
  assert.ok(progress.join('').length <= lines.join('').length)
})

it('the progress of a remote agent is bounded', async (t) => {
  const { progress } = await called(t, async function* () {
    for (let index = 0; index < 200; index += 1) yield status('x'.repeat(5_000))
    yield 'done'
  })
  assert.ok(progress.every(({ length }) => length <= 2_001))
  const total = progress.join('').length
  assert.ok(total >= 100_000 && total < 103_000, String(total))
})

it('the custom progress of LangGraph is bounded', () => {
  const reported: unknown[] = []
  const out = { progress: (...given: readonly unknown[]) => reported.push(given) } as unknown as RunRecorder
  for (const payload of ['x'.repeat(100_000), { text: 'x'.repeat(100_000) }, { done: 1 }])
    reportGraphEvent([[], 'custom', payload], out, () => true)
  assert.ok(reported.every((one) => JSON.stringify(one).length < 10_100))
  assert.deepEqual(reported[2], ['', { custom: { done: 1 } }])
})
