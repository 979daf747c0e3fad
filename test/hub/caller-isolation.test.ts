/**
 * In every version and binding, no caller sees, lists, follows, cancels, continues or registers webhooks for tasks of another
 * caller, or uses an agent without permission. The response is byte for byte that for a task that does not exist.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { inputRequired, type Agent } from '@parley/a2a'
import type { Operation } from '@parley/a2a/internal'
import { guardMs } from '../../packages/a2a/src/testing/fixtures/eventually.ts'
import type { RawAnswer } from '../matrix/raw-client.ts'
import { bothIssuers, openAccessServer, messageParams, type BindingVersion, bindingVersions } from './access-server.ts'
import { agentNames, createTestCallers, type TestCaller } from './test-callers.ts'

const full = process.env['PARLEY_FULL'] === '1'
const runs = full ? 3_000 : 120

/** Answers with what it can see of other tasks. */
const watcher: Agent = async function* (turn) {
  if (turn.text === 'ask') yield inputRequired('Which one?')
  const [context, references] = [await turn.context(), await turn.references()]
  yield JSON.stringify({ seen: [...context, ...references].map(({ id }) => id) })
}

const accessServer = await openAccessServer({
  agents: { team: { agent: watcher }, hidden: { agent: watcher, protectCard: true }, open: { agent: watcher } },
  access: { anonymous: ['open'], jwt: bothIssuers },
  limits: { perKey: '1000000/s', perAddress: '1000000/s', perAgent: { hidden: { rate: '900000/s' } } },
})
const people = await createTestCallers(accessServer)

interface Known {
  readonly id: string
  readonly contextId: string
  readonly messageId: string
  readonly owner: string
  readonly agent: string
  waits: boolean
}
/** Every task opened so far, with its owner. */
const tasks: Known[] = []

type Deed = 'send' | 'repeat' | 'continue' | 'get' | 'list' | 'cancel' | 'subscribe' | 'hook' | 'hooks' | 'unhook'
const operationOf: Readonly<Record<Deed, Operation>> = {
  send: 'SendMessage',
  repeat: 'SendMessage',
  continue: 'SendMessage',
  get: 'GetTask',
  list: 'ListTasks',
  cancel: 'CancelTask',
  subscribe: 'SubscribeToTask',
  hook: 'CreateTaskPushNotificationConfig',
  hooks: 'ListTaskPushNotificationConfigs',
  unhook: 'DeleteTaskPushNotificationConfig',
}
const operations = Object.keys(operationOf) as Deed[]

interface Step {
  /** By name, so that a counterexample contains no key. */
  readonly who: string
  readonly agent: (typeof agentNames)[number]
  readonly way: BindingVersion
  readonly operation: Deed
  /** The index of one of the tasks so far. */
  readonly pick: number
  readonly asks: boolean
}

const steps: fc.Arbitrary<Step> = fc.record({
  who: fc.constantFrom(...people.map(({ name }) => name)),
  agent: fc.constantFrom(...agentNames),
  way: fc.constantFrom(...bindingVersions),
  operation: fc.constantFrom(...operations),
  pick: fc.nat(),
  asks: fc.boolean(),
})

/** The request of a step about this task. The same for an existing and an unknown task. */
function requestOf({ operation, asks }: Step, { id, contextId, messageId }: Known): any {
  switch (operation) {
    case 'send':
      return messageParams(asks ? 'ask' : 'look', { contextId, referenceTaskIds: [id] })
    case 'repeat':
      return messageParams('look', { messageId, contextId })
    case 'continue':
      return messageParams('look', { taskId: id })
    case 'list':
      return asks ? { contextId } : {}
    case 'hook':
      return { taskId: id, id: 'mine', url: 'http://127.0.0.1:9/hook' }
    case 'hooks':
      return { taskId: id }
    case 'unhook':
      return { taskId: id, id: 'mine' }
    default:
      return { id }
  }
}

function personOf({ who }: Step): TestCaller {
  return people.find(({ name }) => name === who) as TestCaller
}

async function ask(step: Step, agent: string, about: Known): Promise<RawAnswer> {
  const { way } = step
  const answer = accessServer
    .peer(agent, way)
    .call(operationOf[step.operation], requestOf(step, about), { headers: personOf(step).headers })
  const late = new Promise<never>((_, reject) =>
    setTimeout(() => reject(new Error(`no answer to ${step.operation}`)), guardMs).unref(),
  )
  return Promise.race([answer, late])
}

type Seen = 'served' | 'lost' | 'unknown' | 'forbidden' | 'refused'

/** The codes of JSON-RPC, HTTP and gRPC. */
const meanings: Readonly<Record<number, Seen>> = {
  [-32001]: 'lost',
  404: 'lost',
  5: 'lost',
  [-32090]: 'unknown',
  401: 'unknown',
  16: 'unknown',
  [-32091]: 'forbidden',
  403: 'forbidden',
  7: 'forbidden',
}

function seenIn({ status, body }: RawAnswer): Seen {
  const code = typeof body?.error?.code === 'number' ? body.error.code : status
  return status === 200 && body?.error === undefined ? 'served' : (meanings[code] ?? 'refused')
}

/** Everything a response reveals, without the words of the request itself. */
function contentOf({ status, headers, body, isEvent }: RawAnswer, ...given: readonly string[]): unknown {
  const shown = [...headers].filter(
    ([name]) => !/^(date|x-ratelimit-remaining|x-ratelimit-reset|connection|keep-alive|content-length)$/.test(name),
  )
  const { id: _, ...document } = typeof body === 'object' && body !== null ? body : { id: 0, body }
  const text = JSON.stringify([status, shown, document, isEvent ?? false])
  return given.reduce((left, word) => left.replaceAll(word, '…'), text)
}

const nowhere = (): Known => ({
  id: `01900000-0000-7000-8000-${crypto.randomUUID().slice(-12)}`,
  contextId: crypto.randomUUID(),
  messageId: crypto.randomUUID(),
  owner: 'no caller',
  agent: 'none',
  waits: false,
})

/** Operations that versions before 1.0 do not have. */
const isSpoken = ({ way, operation }: Step): boolean => way.version === '1.0' || operation !== 'list'

/** What must hold in every state of the task. */
function expected(step: Step, target: Known): Seen | undefined {
  const { agent, operation } = step
  const person = personOf(step)
  if (!person.agents.includes(agent)) return person.principal === 'anonymous' ? 'unknown' : 'forbidden'
  if (person.operations !== undefined && !person.operations.includes(operationOf[operation])) return 'forbidden'
  if (operation === 'send' || operation === 'repeat' || operation === 'list') return undefined
  return target.owner === person.principal && target.agent === agent ? undefined : 'lost'
}

async function take(step: Step): Promise<void> {
  const { agent, operation, way } = step
  const person = personOf(step)
  const target = tasks.length === 0 ? nowhere() : (tasks[step.pick % tasks.length] as Known)
  const isMine = ({ owner, agent: of }: Known): boolean => owner === person.principal && of === agent
  // A stream of an own task stays open until the task has ended; only those of others must be refused.
  if (operation === 'subscribe' && isMine(target) && target.waits) return
  const where = `${person.name}: ${operation} ${target.id} of ${target.owner} at ${agent} (${way.binding} ${way.version})`
  const answer = await ask(step, agent, target)
  const seen = seenIn(answer)
  const wanted = expected(step, target)
  if (wanted === undefined) {
    assert.ok(!['lost', 'unknown', 'forbidden'].includes(seen), `${where}: ${seen} ${JSON.stringify(answer.body)}`)
    return remember(step, target, answer, isMine, where)
  }
  assert.equal(seen, wanted, `${where}: ${JSON.stringify(answer.body)}`)
  // The same request for something that does not exist: the agent, if the agent is refused, else the task.
  const none = nowhere()
  const instead = person.agents.includes(agent) ? agent : 'unknown'
  const twin = await ask(step, instead, instead === agent ? none : target)
  const words = [target.id, none.id, 'agent:unknown', `agent:${agent}`, `skill:${agent}`]
  assert.equal(contentOf(answer, ...words), contentOf(twin, ...words), where)
}

/** Served tasks must be the caller's own, and are recorded for the next steps. */
function remember(step: Step, target: Known, answer: RawAnswer, isMine: (one: Known) => boolean, where: string): void {
  const { operation, agent } = step
  if (seenIn(answer) !== 'served') return
  const payload = answer.payload ?? answer.body
  // References in the caller's own messages are the caller's own text.
  const text = JSON.stringify(payload, (name, value) => (name === 'referenceTaskIds' ? undefined : value))
  const foreign = tasks.filter((one) => !isMine(one) && text.includes(one.id))
  assert.deepEqual(foreign, [], `${where} reveals tasks of others`)
  if (operation === 'list') {
    const listed: readonly { id: string }[] = payload.tasks
    assert.ok(
      listed.every(({ id }) => tasks.some((one) => one.id === id && isMine(one))),
      `${where} lists others`,
    )
  }
  if (operation === 'cancel' || operation === 'continue') target.waits = false
  if (operation !== 'send' && operation !== 'repeat') return
  const task = payload.task ?? payload
  const mine = tasks.find(({ id }) => id === task.id)
  if (mine !== undefined) return assert.ok(isMine(mine), `${where} got the task of another caller`)
  const { contextId, messageId } = requestOf(step, target).message
  const waits = operation === 'send' && step.asks
  tasks.push({
    id: task.id,
    contextId: task.contextId ?? contextId,
    messageId,
    owner: personOf(step).principal,
    agent,
    waits,
  })
}

describe('the task of a caller', () => {
  it(`is invisible and untouchable for other callers in ${runs} runs of random operations, and errors reveal nothing [B-150 B-153 B-160 B-168]`, async () => {
    const tally = new Map<string, number>()
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { minLength: 4, maxLength: 12 }), async (story) => {
        for (const step of story.filter(isSpoken)) {
          await take(step)
          tally.set(step.operation, (tally.get(step.operation) ?? 0) + 1)
        }
      }),
      { numRuns: runs, endOnFailure: true },
    )
    for (const operation of operations) assert.ok((tally.get(operation) ?? 0) > 0, `no run did ${operation}`)
    const owners = new Set(tasks.map(({ owner }) => owner))
    assert.ok(owners.size >= 8, `only ${[...owners].join(', ')} had tasks`)
  })

  it('is found again by its owner, with any of their keys or headers [B-160]', async () => {
    for (const person of people.filter(({ operations }) => operations === undefined)) {
      for (const { id, agent } of tasks.filter(({ owner }) => owner === person.principal).slice(0, 5)) {
        if (!person.agents.includes(agent)) continue
        const { status } = await accessServer
          .peer(agent, bindingVersions[0]!)
          .call('GetTask', { id }, { headers: person.headers })
        assert.equal(status, 200, person.name)
      }
    }
  })
})
