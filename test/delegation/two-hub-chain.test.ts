/** A tree of agents over two hubs: one trace, one deadline, one cancel; questions go up and answers down the chain. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { delegationExtension as uri } from '@parley/a2a/internal'
import type { StreamEvent, Struct, Task } from '@parley/a2a'
import { waitForProcessExit, isProcessAlive } from '../agents/process-liveness.ts'
import { questionOf, textOf } from './open-hub.ts'
import { openTwoHubChain, chainBindings } from './two-hub-chain.ts'
import type { StoredTask, ChainBinding } from './two-hub-chain.ts'

const inTheTree = ['front', 'to-b', 'middle', 'to-a', 'leaf']
const traceOf = (index: number): string => (index + 1).toString(16).padStart(32, 'a')

interface Grown {
  readonly way: ChainBinding
  readonly id: string
}

it('a tree of agents of four kinds on two hubs', { timeout: 240_000 }, async (t) => {
  const tree = await openTwoHubChain(t)
  const { bench } = tree
  const perWay = <T>(work: (way: ChainBinding, index: number) => Promise<T>): Promise<readonly T[]> =>
    Promise.all(chainBindings.map(work))

  const asked = await perWay(async (way, index) => {
    const headers = { traceparent: `00-${traceOf(index)}-00000000000000ff-01` }
    return (await (await tree.front(way)).send(`ask ${way}`, { headers })) as Task
  })

  const answering = perWay(async (way, index) => {
    const events: StreamEvent[] = []
    const stream = (await tree.front(way)).stream('blue', { taskId: asked[index]?.id ?? '' })
    for await (const event of stream) events.push(event)
    return events
  })
  await perWay((way) => bench.waitForFile(`answered-${way}`))
  const leafAnswers = await perWay((way) => bench.read(`answered-${way}`))
  await tree.killB()
  bench.createFile('released')
  const answers = await answering
  const answered = await perWay(async (way, index) => (await tree.front(way)).get(asked[index]?.id ?? ''))

  const canceled = await perWay(async (way) => {
    const front = await tree.front(way)
    const { id } = (await front.send(`endless ${way}`, { returnImmediately: true })) as Task
    await bench.waitForFile(`begun-${way}`)
    const pid = Number(await bench.read(`begun-${way}`))
    assert.ok(isProcessAlive(pid))
    const task = await front.cancel(id)
    await bench.waitForFile(`stopped-${way}`)
    await waitForProcessExit(pid)
    return task
  })

  const late = await perWay(async (way) => {
    const deadline = Date.now() + 4_000
    const metadata = { [uri]: { deadline: new Date(deadline).toISOString() } }
    const message = { parts: [{ text: `endless ${way} late` }], metadata }
    const task = (await (await tree.front(way)).send(message, { extensions: [uri] })) as Task
    const afterMs = Date.now() - deadline
    await waitForProcessExit(Number(await bench.read(`begun-${way}`)))
    return { ...task, afterMs }
  })

  const grown = (tasks: readonly Task[]): readonly Grown[] =>
    tasks.map(({ id }, index) => ({ way: chainBindings[index] as ChainBinding, id }))
  const roots = { asked: grown(asked), canceled: grown(canceled), late: grown(late) }

  await t.test('passes a question of the last agent up to the caller, over every binding', () => {
    for (const [index, task] of asked.entries()) {
      const question = `Which colour for ${chainBindings[index]}?`
      assert.deepEqual([task.status.state, questionOf(task)], ['TASK_STATE_INPUT_REQUIRED', question])
      assert.equal(task.status.message?.referenceTaskIds?.length, 1)
    }
  })

  await t.test('passes the answer down, and completes although the middle hub was killed in the meantime', () => {
    assert.deepEqual(leafAnswers, ['blue', 'blue', 'blue'])
    for (const [index, task] of answered.entries()) {
      assert.equal(task.status.state, 'TASK_STATE_COMPLETED')
      assert.equal(textOf(task), `front read: middle read: ${chainBindings[index]} is blue`)
      // The caller's stream, which was open all the time, has every event once.
      const said = (answers[index] ?? []).flatMap((event) =>
        'artifactUpdate' in event ? event.artifactUpdate.artifact.parts : [],
      )
      assert.equal(said.map((part) => ('text' in part ? part.text : '')).join(''), textOf(task))
    }
  })

  await t.test('is canceled down to the last agent', () => {
    for (const { status } of canceled) assert.equal(status.state, 'TASK_STATE_CANCELED')
  })

  await t.test('ends by the deadline of its caller', () => {
    for (const { status, afterMs } of late) {
      assert.equal(status.state, 'TASK_STATE_FAILED')
      assert.ok(afterMs >= 0, `${afterMs} ms after it`)
    }
  })

  const kept = await tree.end()
  const below = (id: string): readonly StoredTask[] => {
    const children = kept.filter(({ records }) => provenanceIn(records)?.['parent'] === id)
    return children.flatMap((child) => [child, ...below(child.id)])
  }
  const treeOf = ({ id }: Grown): readonly StoredTask[] => {
    const root = kept.find((task) => task.id === id)
    assert.ok(root !== undefined)
    return [root, ...below(id)]
  }

  await t.test('is one tree of tasks: each refers to its parent, and knows the chain', () => {
    for (const root of Object.values(roots).flat()) {
      const tasks = treeOf(root)
      assert.deepEqual(
        tasks.map(({ agent }) => agent.replace(`-${root.way}`, '')),
        inTheTree,
      )
      for (const [index, task] of tasks.entries()) {
        if (index === 0) continue
        const provenance = provenanceIn(task.records)
        assert.deepEqual(messageIn(task.records).message.referenceTaskIds, [tasks[index - 1]?.id])
        assert.equal(provenance?.['root'], root.id)
        const way = tasks.slice(0, index).map(({ hub, agent }) => `${hub === 'a' ? tree.a : tree.b}#${agent}`)
        assert.deepEqual(provenance['visited'], way)
      }
    }
  })

  await t.test('is one trace, and the parent of each task is the hop that led to it', () => {
    for (const root of Object.values(roots).flat()) {
      const tasks = treeOf(root)
      const contexts = tasks.map(({ records }) => messageIn(records).options?.traceparent?.split('-') ?? [])
      const [, traceId] = contexts.at(-1) ?? []
      for (const [index, task] of tasks.entries()) {
        const [, trace, parent] = contexts[index] ?? []
        if (index === 0) continue
        assert.equal(trace, traceId)
        const hop = tasks[index - 1]?.spans.find(({ attributes }) => attributes?.['childTaskId'] === task.id)
        assert.deepEqual([hop?.kind, hop?.spanId], ['hop', parent], `${task.agent} of ${tasks[index - 1]?.agent}`)
      }
    }
    for (const { way, id } of roots.asked) {
      const [root] = treeOf({ way, id })
      assert.equal(
        messageIn(root?.records ?? []).options?.traceparent?.split('-')[1],
        traceOf(chainBindings.indexOf(way)),
      )
    }
  })

  await t.test('has one end, and one deadline if any', () => {
    const states = (grown: readonly Grown[]): readonly string[] => [
      ...new Set(grown.flatMap((root) => treeOf(root).map(({ state }) => state))),
    ]
    assert.deepEqual(states(roots.asked), ['TASK_STATE_COMPLETED'])
    assert.deepEqual(states(roots.canceled), ['TASK_STATE_CANCELED'])
    assert.ok(
      states(roots.late).every((state) => /FAILED|CANCELED/.test(state)),
      states(roots.late).join(' '),
    )
    for (const root of roots.late) {
      const times = treeOf(root).map(({ records }) => messageIn(records).options?.deadlineAt)
      assert.equal(new Set(times).size, 1)
      assert.ok(times[0] !== undefined)
    }
  })
})

function messageIn(records: StoredTask['records']) {
  const body = records.find((record) => record.body.type === 'message')?.body
  assert.ok(body?.type === 'message')
  return body
}

function provenanceIn(records: StoredTask['records']): Struct | undefined {
  return messageIn(records).options?.provenance
}
