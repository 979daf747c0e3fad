import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { createHandler } from './handler.ts'
import { guardedWebhooks, serve } from './node.ts'
import type { HandlerOptions } from './options.ts'

const skill = { id: 'a', name: 'A', description: 'Does A', tags: [] }

/** The message of the error for these options, which types would refuse. */
async function serveProblem(options: object): Promise<string> {
  const started = serve({ port: 0, store: memoryStore(), agent: () => 'x', ...options })
  const error = await started.then((server) => server.close()).catch((reason: unknown) => reason)
  assert.ok(error instanceof Error, 'the server started')
  assert.deepEqual([error.name, error.stack], ['ConfigError', `ConfigError: ${error.message}`])
  return error.message
}

async function handlerProblem(options: object): Promise<string> {
  let handler
  try {
    handler = createHandler(options as HandlerOptions)
  } catch (reason) {
    return (reason as Error).message
  }
  await handler.close()
  return 'no problem'
}

describe('unknown options', () => {
  it('do not start a server, and the error names the option that was meant', async () => {
    assert.equal(
      await serveProblem({ authentcate: () => undefined }),
      'authentcate: unknown option: did you mean `authenticate`?',
    )
    assert.equal(await serveProblem({ colour: 'red' }), 'colour: unknown option')
    assert.equal(
      await handlerProblem({ store: memoryStore(), agent: () => 'x', authentcate: () => undefined }),
      'authentcate: unknown option: did you mean `authenticate`?',
    )
  })

  it('may be undefined if they are options of another kind of server', async () => {
    const one = { store: memoryStore(), agent: () => 'x', default: undefined }
    assert.equal(await handlerProblem(one), 'no problem')
    const several = { store: memoryStore(), agents: { ada: () => 'x' }, name: undefined }
    assert.equal(await handlerProblem(several), 'no problem')
    assert.equal(
      await handlerProblem({ ...one, authentcate: undefined }),
      'authentcate: unknown option: did you mean `authenticate`?',
    )
  })

  it('are found in nested options', async () => {
    const nested = {
      limits: { bodyByte: 1 },
      push: { timeoutMS: 1 },
      signing: { kId: 'a' },
      retention: { finished: 1 },
      tls: { certificate: '' },
      tenants: { declare: [] },
      idempotency: { window: 1 },
      inputTimeout: { afterMS: 1 },
    }
    for (const [name, value] of Object.entries(nested)) {
      const [wrong] = Object.keys(value)
      assert.match(await serveProblem({ [name]: value }), new RegExp(`^${name}\\.${wrong}: unknown option`))
    }
  })

  it('are found in the settings of one of several agents, at the start and later', async () => {
    const wrong = { agent: () => 'x', requireSkil: true }
    const message = 'agents.ann.requireSkil: unknown option: did you mean `requireSkill`?'
    assert.equal(await serveProblem({ agent: undefined, agents: { ann: wrong } }), message)
    const handler = createHandler({ store: memoryStore(), agents: { bob: () => 'x' } })
    assert.throws(() => handler.agents.set('ann', wrong), { message })
    await handler.close()
  })

  it('of push in serve() name what createHandler() takes', async () => {
    const handler = (push: unknown) => handlerProblem({ store: memoryStore(), agent: () => 'x', push })
    const instead = (given: string) =>
      `is for serve(): pass \`push: guardedWebhooks(${given})\` of @parley/a2a/node to createHandler()`
    assert.equal(await handler(true), `push: true ${instead('')}`)
    assert.equal(
      await handler({ allow: ['127.0.0.1'], ports: [443] }),
      `push.allow: ${instead('{ allow }')}\npush.ports: ${instead('{ ports }')}`,
    )
    assert.equal(await handler(guardedWebhooks({ allow: ['127.0.0.1'] })), 'no problem')
  })

  it('of one agent do not belong to a server of several', async () => {
    assert.equal(
      await serveProblem({ agent: undefined, agents: { ann: () => 'x' }, requireSkill: true }),
      'requireSkill: is an option of one agent: set it in each of `agents`',
    )
    assert.match(await serveProblem({ agents: { ann: () => 'x' } }), /^agents: must be omitted with `agent`/)
  })
})

describe('invalid values', () => {
  it('do not start a server, and the error names the option and what it must be', async () => {
    const wrong: readonly [options: object, message: RegExp][] = [
      [{ turnTimeoutMs: -1 }, /^turnTimeoutMs: must be a number of milliseconds above 0, such as 60_000; it is -1$/],
      [{ turnTimeoutMs: '60s' }, /^turnTimeoutMs: .*; it is '60s'$/],
      [{ openAfterMs: NaN }, /^openAfterMs: must be a number of milliseconds.*NaN$/],
      [{ drainMs: -1 }, /^drainMs: /],
      [{ headTimeoutMs: Infinity }, /^headTimeoutMs: /],
      [{ limits: { waitMs: '1' } }, /^limits\.waitMs: /],
      [{ retention: { finishedMs: -1 } }, /^retention\.finishedMs: /],
      [{ whenBusy: 'drop' }, /^whenBusy: must be one of queue, reject, steer; it is 'drop'$/],
      [{ versions: ['2.0'] }, /^versions: must be a list of 1\.0, 0\.3, 0\.2$/],
      [{ port: NaN }, /^port: must be a whole number from 0 to 65535, where 0 picks a free port; it is NaN$/],
      [{ port: 99_999 }, /^port: .*99999$/],
      [{ grpcPort: '3001' }, /^grpcPort: /],
      [{ host: 'not a host' }, /^host: not a host is not an address of this machine .*: use 127\.0\.0\.1/],
      [{ authenticate: 'secret' }, /^authenticate: must be a function$/],
      [{ protectCard: 'yes' }, /^protectCard: must be true or false/],
    ]
    for (const [options, message] of wrong) assert.match(await serveProblem(options), message)
  })

  it('are all reported in one error', async () => {
    const { tags: _, ...untagged } = skill
    assert.equal(
      await serveProblem({ whenBusy: 'drop', skills: [skill, { id: 'b' }, untagged] }),
      [
        "whenBusy: must be one of queue, reject, steer; it is 'drop'",
        'skills[1].name: is required',
        'skills[1].description: is required',
        'skills[1].tags: is required: a list of strings, or []',
        'skills[2].tags: is required: a list of strings, or []',
      ].join('\n'),
    )
  })

  it('include the agent and what a restart means for it', async () => {
    const run = () => 'x'
    const oneOf = 'agent.resume: must be one of fail, rerun, reattach'
    const noReattach = "agent.reattach: must be a function with resume: 'reattach'"
    const wrong: readonly [agent: unknown, message: string][] = [
      [undefined, 'agent: must be a function, or an object with resume and run'],
      [{ resume: 'rerun' }, 'agent: must be a function, or an object with resume and run'],
      [{ run, resume: 'again' }, `${oneOf}; it is 'again'`],
      [{ run }, oneOf],
      [{ run, resume: 'reattach' }, noReattach],
      [{ run, resume: 'reattach', reattach: 'job' }, noReattach],
      [{ run, resume: 'fail', onAbandoned: true }, 'agent.onAbandoned: must be a function'],
    ]
    for (const [agent, message] of wrong) assert.equal(await serveProblem({ agent }), message)
    const store = memoryStore()
    assert.equal(await handlerProblem({ store, agent: { run, resume: 'again' } }), `${oneOf}; it is 'again'`)
    assert.equal(await handlerProblem({ store, agent: { run, resume: 'reattach', reattach: run } }), 'no problem')
  })

  it('include the names and the agents of several, also beside unknown options', async () => {
    const agents = {
      tasks: () => 'x',
      ann: 5,
      bob: { agent: { run: () => 'x', resume: 'again' } },
      eve: { agent: undefined },
    }
    assert.equal(
      await serveProblem({ agent: undefined, colour: 'red', agents }),
      [
        'colour: unknown option',
        'agents.tasks: is reserved: choose another name',
        'agents.ann.agent: must be a function, or an object with resume and run',
        "agents.bob.agent.resume: must be one of fail, rerun, reattach; it is 'again'",
        'agents.eve.agent: must be a function, or an object with resume and run',
      ].join('\n'),
    )
  })

  it('include a missing store of a handler', async () => {
    assert.equal(await handlerProblem({ name: 'Echo', agent: () => 'x' }), 'store: is required, such as memoryStore()')
  })
})
