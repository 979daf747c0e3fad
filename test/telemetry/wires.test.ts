/** The trace of a turn in other protocols: ACP and OpenClaw. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { memoryStore, type Task } from '@parley/a2a'
import { readTraceparent, spanIdOfTurn, traceIdOfTask, type Span } from '@parley/a2a/internal'
import type { Store } from '@parley/a2a/stores'
import { acpKind } from '../../packages/hub/src/agents/acp/index.ts'
import { openKind } from '../../packages/hub/src/agents/testing/open-kind.ts'
import { createSharedFolder } from '../agents/shared-folder.ts'
import { sendText, openOpenclawTestAgent, textOf } from '../agents/openclaw-test-agent.ts'

async function spansOf(store: Store, taskId: string): Promise<readonly Span[]> {
  return (await store.tasks.read(taskId, 0)).flatMap(({ body }) => (body.type === 'span' ? [body.span] : []))
}

describe('the trace of a turn', () => {
  it('goes to an OpenClaw gateway with the request, and the usage of the run is recorded on it [B-171]', async (t) => {
    const store = memoryStore()
    const { gateway, agent } = await openOpenclawTestAgent(t, { test: { store } })
    const task = await sendText(agent, 'count to 3')
    const [span] = await spansOf(store, task.id)
    assert.deepEqual([span?.kind, span?.outcome, span?.attributes?.['agent']], ['hop', 'ok', 'bot'])
    assert.deepEqual(readTraceparent(gateway.traced.get('agent')), {
      traceId: traceIdOfTask(task.id),
      spanId: span?.spanId,
      isSampled: true,
    })
    assert.equal(gateway.traced.has('connect'), false)
    assert.deepEqual(
      [span?.attributes?.['gen_ai.usage.input_tokens'], span?.attributes?.['gen_ai.usage.output_tokens']],
      [11, 7],
    )
  })

  it('goes to an ACP agent with the prompt [B-171]', async (t) => {
    const folder = createSharedFolder()
    t.after(() => folder.remove())
    const program = join(import.meta.dirname, '../agents/programs/acp-agent.ts')
    const { agent } = await openKind(
      t,
      acpKind,
      { command: [process.execPath, program], env: { BENCH: folder.path } },
      { services: { baseDir: folder.path } },
    )
    const task = (await agent.send('trace')) as Task
    const { traceparent } = JSON.parse(textOf(task)) as { traceparent: string }
    assert.equal(readTraceparent(traceparent)?.spanId, spanIdOfTurn(task.id, 1, 1))
  })
})
