/** One request through two hubs, a model, an MCP server and three agents, as a collector sees it: one trace. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { readTraceparent } from '@parley/a2a/internal'
import type { Task } from '@parley/a2a'
import { scriptedModel } from '../../packages/hub/src/agents/testing/scripted-model.ts'
import type { Script } from '../../packages/hub/src/agents/testing/scripted-model.ts'
import { eventually } from '../../packages/a2a/src/testing/fixtures/eventually.ts'
import { openCollector } from './collector.ts'
import type { Collector, ReceivedSpan } from './collector.ts'
import { openHub } from './open-hub.ts'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const ofClient = '00f067aa0ba902b7'
const headers = { traceparent: `00-${traceId}-${ofClient}-01`, tracestate: 'vendor=1' }

/** Calls everything, and then answers with the result of the MCP server. */
const script: Script = ({ body }) => {
  const results = body.messages.filter(({ role }) => role === 'tool')
  if (results.length > 0) return { say: String(results[0]?.content) }
  return {
    calls: [
      { name: 'look_up', input: { word: 'tea' }, id: 'c1' },
      { name: 'ask_helper', input: { message: 'help' }, id: 'c2' },
      { name: 'ask_partner', input: { message: 'tell' }, id: 'c3' },
    ],
  }
}

async function openBoth(t: TestContext, collector: Collector) {
  const model = await scriptedModel(script)
  t.after(() => model.close())
  const otlp = { url: collector.url, headers: { 'x-token': 'for-the-collector' }, interval: '150ms' }
  const other = await openHub(t, {
    agents: { expert: { kind: 'module', path: './agents/echo.ts' } },
    telemetry: { otlp: { ...otlp, service: 'other' } },
  })
  const mcp = {
    command: [process.execPath, '--conditions=parley-source', join(import.meta.dirname, 'programs/mcp-server.ts')],
  }
  const main = await openHub(t, {
    agents: {
      gpt: { kind: 'openai', baseUrl: model.url, model: 'scripted' },
      helper: { kind: 'module', path: './agents/echo.ts' },
      partner: { kind: 'a2a', url: `${other.hub.url}/a2a/expert` },
      analyst: { kind: 'loop', model: 'gpt', tools: [{ mcp }, { agent: 'helper' }, { agent: 'partner' }] },
    },
    prices: { scripted: { input: 1, output: 10 } },
    telemetry: { otlp: { ...otlp, service: 'main' } },
  })
  t.after(() => collector.close())
  return { main, other, model }
}

/** The one span of that name and service. */
function one(spans: readonly ReceivedSpan[], service: string, name: string): ReceivedSpan {
  const found = spans.filter((span) => span.service === service && span.name === name)
  assert.equal(found.length, 1, `${found.length} spans ${service}: ${name}`)
  return found[0] as ReceivedSpan
}

describe('a request that goes through two hubs', () => {
  it('is one trace at the collector, each call below its caller, with the ids of the log [B-171 T-12 S4-16 S4-21]', async (t) => {
    const collector = await openCollector()
    const { main, other, model } = await openBoth(t, collector)
    const analyst = await main.agent('analyst', { headers })
    const task = (await analyst.send('What is tea?')) as unknown as Task
    assert.equal(task.status.state, 'TASK_STATE_COMPLETED')

    const isOver = (spans: readonly ReceivedSpan[]): boolean =>
      ['main', 'other'].every((service) =>
        spans.some((span) => span.service === service && /invoke_agent (analyst|expert)/.test(span.name)),
      )
    const spans = await collector.until(isOver, 'the roots of both hubs')
    const tree: readonly (readonly [service: string, name: string, parent: readonly [string, string] | undefined])[] = [
      ['main', 'invoke_agent analyst', undefined],
      ['main', 'execute_tool look_up', ['main', 'turn of analyst']],
      ['main', 'execute_tool ask_helper', ['main', 'turn of analyst']],
      ['main', 'delegate helper', ['main', 'execute_tool ask_helper']],
      ['main', 'invoke_agent helper', ['main', 'delegate helper']],
      ['main', 'execute_tool ask_partner', ['main', 'turn of analyst']],
      ['main', 'delegate partner', ['main', 'execute_tool ask_partner']],
      ['main', 'invoke_agent partner', ['main', 'delegate partner']],
      ['main', 'call partner', ['main', 'turn of partner']],
      ['other', 'invoke_agent expert', ['main', 'call partner']],
      ['other', 'turn of expert', ['other', 'invoke_agent expert']],
    ]
    // Turns have the same name: here by agent.
    const named = spans.map((span) =>
      span.name === 'turn 1' ? { ...span, name: `turn of ${String(span.attributes['gen_ai.agent.name'])}` } : span,
    )
    for (const [service, name, parent] of tree) {
      const expected = parent === undefined ? ofClient : one(named, ...parent).spanId
      assert.equal(one(named, service, name).parentSpanId, expected, `the parent of ${service}: ${name}`)
    }
    const chats = named.filter(({ name }) => name === 'chat scripted')
    const turn = one(named, 'main', 'turn of analyst')
    assert.deepEqual(
      chats.map(({ parentSpanId }) => parentSpanId),
      [turn.spanId, turn.spanId],
    )
    assert.equal(turn.parentSpanId, one(named, 'main', 'invoke_agent analyst').spanId)

    // One trace, complete, each span within its parent.
    assert.deepEqual([...new Set(named.map((span) => span.traceId))], [traceId])
    assert.equal(new Set(named.map(({ spanId }) => spanId)).size, named.length)
    const byId = new Map(named.map((span) => [span.spanId, span]))
    for (const span of named) {
      const parent = byId.get(span.parentSpanId)
      assert.ok(parent !== undefined || span.parentSpanId === ofClient, `${span.name} has a parent that was not sent`)
      assert.ok(parent === undefined || span.startedAt >= parent.startedAt - 1, `${span.name} begins before its parent`)
    }
    assert.ok(collector.headers.every(({ 'x-token': token }) => token === 'for-the-collector'))

    // The attributes of the root, and the usage and cost of models.
    const root = one(named, 'main', 'invoke_agent analyst')
    assert.deepEqual(
      ['parley.type', 'a2a.task.id', 'a2a.task.state', 'gen_ai.conversation.id', 'gen_ai.usage.input_tokens'].map(
        (name) => root.attributes[name],
      ),
      ['A2A_TASK', task.id, 'TASK_STATE_COMPLETED', task.contextId, 14],
    )
    assert.equal(root.attributes['gen_ai.usage.cost'], (14 * 1 + 10 * 10) / 1_000_000)
    assert.ok(root.kind === 2 && chats.every(({ kind }) => kind === 3))
    const [chat] = chats
    assert.deepEqual(
      ['gen_ai.request.model', 'gen_ai.usage.input_tokens', 'gen_ai.usage.output_tokens', 'gen_ai.usage.cost'].map(
        (name) => chat?.attributes[name],
      ),
      ['scripted', 7, 5, 0.000057],
    )
    const events = one(named, 'main', 'turn of analyst').events.map(({ name }) => name)
    assert.ok(events.includes('a2a.status') && events.includes('a2a.artifact') && events.includes('a2a.checkpoint'))
    const { attributes: helper } = one(named, 'main', 'invoke_agent helper')
    assert.equal(helper['parley.delegation_context.parent_task_id'], task.id)

    // The same context on every connection.
    const sentSpanIds = (await Promise.all([model.request(1), model.request(2)])).map(
      ({ headers: sent }) => readTraceparent(sent['traceparent'] as string)?.spanId,
    )
    const sorted = (ids: readonly unknown[]): readonly string[] =>
      ids.map(String).toSorted((a, b) => a.localeCompare(b))
    assert.deepEqual(sorted(sentSpanIds), sorted(chats.map(({ spanId }) => spanId)))
    const lookedUp = JSON.parse(textOf(task)) as { traceparent: string; tracestate: string }
    assert.deepEqual(readTraceparent(lookedUp.traceparent), {
      traceId,
      spanId: one(named, 'main', 'execute_tool look_up').spanId,
      isSampled: true,
    })
    assert.equal(lookedUp.tracestate, 'vendor=1')

    // It contains no message text.
    assert.doesNotMatch(JSON.stringify(spans), /What is tea|echo/)

    // The hub shows the same tree.
    const { traces } = await main.admin(`/admin/traces?agent=helper`)
    assert.deepEqual(
      traces.map(({ taskId, tasks, models, tools, cost }: Record<string, unknown>) => ({
        taskId,
        tasks,
        models,
        // They run concurrently, and are listed as they end.
        tools: sorted(tools as readonly unknown[]),
        cost,
      })),
      [
        {
          taskId: task.id,
          tasks: 3,
          models: ['scripted'],
          tools: ['ask_helper', 'ask_partner', 'look_up'],
          cost: (14 * 1 + 10 * 10) / 1_000_000,
        },
      ],
    )
    assert.equal((await other.admin(`/admin/traces/${traceId}`)).traces.length, 1)
  })

  it('is not exported if its caller does not sample it, and the hub still records it [full]', async (t) => {
    const collector = await openCollector()
    const { main } = await openBoth(t, collector)
    const unsampled = { traceparent: headers.traceparent.replace(/01$/, '00') }
    const off = (await (await main.agent('helper', { headers: unsampled })).send('one')) as unknown as Task
    const on = (await (await main.agent('helper')).send('two')) as unknown as Task
    await collector.until(
      (spans) => spans.some(({ attributes }) => attributes['a2a.task.id'] === on.id),
      'the second task',
    )
    assert.ok(collector.spans.every(({ attributes }) => attributes['a2a.task.id'] !== off.id))
    assert.equal((await main.admin('/admin/traces')).traces.length, 2)
  })

  it('is counted by both hubs, and exported over OTLP [T-12]', async (t) => {
    const collector = await openCollector()
    const { main } = await openBoth(t, collector)
    await (await main.agent('analyst')).send('What is tea?')
    const value = (service: string, name: string, labels: Readonly<Record<string, string>> = {}): number | undefined =>
      collector.metrics
        .findLast((metric) => metric.service === service && metric.name === name)
        ?.points.find(({ attributes }) => Object.entries(labels).every(([label, text]) => attributes[label] === text))
        ?.value
    const isThere = (): boolean =>
      value('main', 'gen_ai.client.token.usage', { 'gen_ai.token.type': 'input' }) === 2 &&
      value('main', 'parley.requests', { agent: 'analyst', outcome: 'OK' }) === 1 &&
      value('other', 'parley.tasks.ended', { agent: 'expert', state: 'completed' }) === 1 &&
      value('main', 'parley.agent.up', { agent: 'gpt' }) === 1
    await eventually(isThere, () => `the metrics, not ${JSON.stringify(collector.metrics.slice(-60))}`)
    const metric = collector.metrics.findLast(({ name }) => name === 'gen_ai.client.operation.duration')
    assert.deepEqual([metric?.type, metric?.unit], ['histogram', 's'])
  })
})

describe('an unresponsive collector [full]', () => {
  it('delays no caller, and is not waited for at shutdown', { timeout: 120_000 }, async (t) => {
    const collector = await openCollector()
    collector.hang()
    const { main } = await openBoth(t, collector)
    const helper = await main.agent('helper')
    await helper.send('warm up')
    // If each of them waited for the collector, it would take minutes.
    for (let n = 0; n < 20; n += 1) await helper.send('again')
    await main.close()
  })
})

function textOf({ artifacts = [] }: Task): string {
  return artifacts.flatMap(({ parts }) => parts.map((part) => ('text' in part ? part.text : ''))).join('')
}
