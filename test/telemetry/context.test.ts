/** The trace context of the caller reaches every kind of agent, over every binding. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readTraceparent, spanIdOfTurn, traceIdOfTask } from '@parley/a2a/internal'
import type { Task } from '@parley/a2a'
import { grpc } from '@parley/a2a/grpc'
import { openHub } from './open-hub.ts'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01`, tracestate: 'vendor=1' }
const said = ({ artifacts = [] }: Task): string =>
  artifacts.flatMap(({ parts }) => parts.map((part) => ('text' in part ? part.text : ''))).join('')

const tell = 'process.stdout.write(JSON.stringify([process.env.TRACEPARENT, process.env.TRACESTATE]))'
const agents = { script: { kind: 'command', command: [process.execPath, '-e', tell] } }

describe('the trace of a request', () => {
  for (const binding of ['JSONRPC', 'HTTP+JSON', 'GRPC'] as const) {
    it(`reaches a program with the turn as its parent, over ${binding} [B-171]`, async (t) => {
      const { agent } = await openHub(t, { agents, listen: { port: 0, grpcPort: 0 } })
      const bindings = binding === 'GRPC' ? [grpc()] : []
      const script = await agent('script', { prefer: [binding], bindings, headers })
      assert.equal(script.interface.protocolBinding, binding)
      const task = (await script.send('hi')) as unknown as Task
      const [traceparent, tracestate] = JSON.parse(said(task)) as string[]
      assert.deepEqual(readTraceparent(traceparent), { traceId, spanId: spanIdOfTurn(task.id, 1, 1), isSampled: true })
      assert.equal(tracestate, 'vendor=1')
    })
  }

  it('is that of the task itself if the request has none [S4-18]', async (t) => {
    const { agent, admin } = await openHub(t, { agents })
    const task = (await (await agent('script')).send('hi')) as unknown as Task
    const [traceparent] = JSON.parse(said(task)) as string[]
    assert.equal(readTraceparent(traceparent)?.traceId, traceIdOfTask(task.id))
    for (const id of [task.id, traceIdOfTask(task.id)]) {
      const { traces } = await admin(`/admin/traces/${id}`)
      assert.deepEqual(
        traces.map((trace: any) => [trace.summary?.taskId ?? trace.taskId]),
        [[task.id]],
      )
    }
  })
})
